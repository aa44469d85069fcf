package io.writepath.controls;

import io.writepath.post.Post;
import io.writepath.post.PostWriter;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongSupplier;

/** Makes every write of another writer take longer by a share of what it took. */
final class Slowdown implements PostWriter {

    private static final int PERCENT = 100;
    private static final long PARK_LATE_NANOS = 1_000_000; // a parked thread wakes up that much late at most, usually

    private final PostWriter writer;
    private final int percent;
    private final LongSupplier nanoTime;

    Slowdown(PostWriter writer, int percent, LongSupplier nanoTime) {
        this.writer = writer;
        this.percent = percent;
        this.nanoTime = nanoTime;
    }

    /** As the writer does it, and later; a write that fails is not held up. */
    @Override
    public Post write(Post post) {
        long began = nanoTime.getAsLong();
        Post written = writer.write(post);
        long took = nanoTime.getAsLong() - began;
        waitUntil(began + took + took * percent / PERCENT);
        return written;
    }

    /** Parks while that is exact enough, then spins: a tenth of a write is often less than a timer can do. */
    private void waitUntil(long moment) {
        for (long left = moment - nanoTime.getAsLong(); left > 0; left = moment - nanoTime.getAsLong()) {
            if (left > PARK_LATE_NANOS) {
                LockSupport.parkNanos(left - PARK_LATE_NANOS);
            } else {
                Thread.onSpinWait();
            }
        }
    }
}
