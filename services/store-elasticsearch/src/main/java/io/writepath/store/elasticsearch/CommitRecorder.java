package io.writepath.store.elasticsearch;

import io.writepath.post.CommitInspector;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.UUID;
import java.util.function.BiConsumer;

/**
 * When the answer came that a post is on disk in every copy. Elasticsearch keeps no such moment, so this process does:
 * for the newest {@value #ENTRIES_MAX} posts, in primitive arrays of 24 bytes a post that grow as needed.
 */
public final class CommitRecorder implements CommitInspector {

    private static final int ENTRIES_MAX = 2_000_000;
    private static final int CHUNK_ENTRIES = 1 << 14;
    private static final int LONGS_AN_ENTRY = 3;

    private final int copies;
    private final List<long[]> chunks = new ArrayList<>();
    private long recorded;

    CommitRecorder(int copies) {
        this.copies = copies;
    }

    /** Counts only a new document with all its copies: that of a repeated post became durable earlier. */
    void record(Operation operation, Reply reply, Instant arrivedAt) {
        if (!(operation instanceof Operation.Confirm)
                && reply instanceof Reply.Written written
                && written.copies() >= copies) {
            record(operation.id(), arrivedAt);
        }
    }

    /** For a writer that knows by itself that all copies have a new document. */
    public void record(UUID id, Instant durableAt) {
        record(id, ChronoUnit.MICROS.between(Instant.EPOCH, durableAt));
    }

    private synchronized void record(UUID id, long epochMicros) {
        int entry = (int) (recorded++ % ENTRIES_MAX);
        if (entry / CHUNK_ENTRIES == chunks.size()) {
            chunks.add(new long[CHUNK_ENTRIES * LONGS_AN_ENTRY]);
        }
        long[] chunk = chunks.get(entry / CHUNK_ENTRIES);
        int at = entry % CHUNK_ENTRIES * LONGS_AN_ENTRY;
        chunk[at] = id.getMostSignificantBits();
        chunk[at + 1] = id.getLeastSignificantBits();
        chunk[at + 2] = epochMicros;
    }

    /** Copies a chunk at a time, so that a slow reader does not hold up the writes. */
    @Override
    public void forEach(BiConsumer<UUID, Instant> consumer) {
        for (int chunk = 0; ; chunk++) {
            long[] copied = copy(chunk);
            if (copied.length == 0) {
                return;
            }
            for (int at = 0; at < copied.length; at += LONGS_AN_ENTRY) {
                consumer.accept(
                        new UUID(copied[at], copied[at + 1]), Instant.EPOCH.plus(copied[at + 2], ChronoUnit.MICROS));
            }
        }
    }

    private synchronized long[] copy(int chunk) {
        long kept = Math.min(recorded, ENTRIES_MAX) - (long) chunk * CHUNK_ENTRIES;
        int entries = Math.clamp(kept, 0, CHUNK_ENTRIES);
        return entries == 0 ? new long[0] : Arrays.copyOf(chunks.get(chunk), entries * LONGS_AN_ENTRY);
    }

    @Override
    public synchronized void reset() {
        chunks.clear();
        recorded = 0;
    }
}
