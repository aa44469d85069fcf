package io.writepath.web;

import io.writepath.post.Post;
import io.writepath.post.PostWriter;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongSupplier;

/**
 * Makes every write take longer by a share of what it took. For trials of the comparison alone, which must call the
 * variant {@code jpa-slowed} slower; 0, the default, does nothing.
 */
final class Slowdown {

    private static final int PERCENT_MAX = 100;
    private static final long PARK_LATE_NANOS = 1_000_000; // a parked thread wakes up that much late at most, usually

    private final int percent;
    private final LongSupplier nanoTime;

    Slowdown(int percent, LongSupplier nanoTime) {
        if (percent < 0 || percent > PERCENT_MAX) {
            throw new IllegalArgumentException(
                    "SLOWDOWN_PERCENT=%d: a whole number from 0 to %d is needed".formatted(percent, PERCENT_MAX));
        }
        this.percent = percent;
        this.nanoTime = nanoTime;
    }

    /** As the writer does it, and later; a write that fails is not held up. */
    Post write(PostWriter writer, Post post) {
        if (percent == 0) {
            return writer.write(post);
        }
        long began = nanoTime.getAsLong();
        Post written = writer.write(post);
        long took = nanoTime.getAsLong() - began;
        waitUntil(began + took + took * percent / PERCENT_MAX);
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
