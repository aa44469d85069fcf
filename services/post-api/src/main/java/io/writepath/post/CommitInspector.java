package io.writepath.post;

import java.time.Instant;
import java.util.UUID;
import java.util.function.BiConsumer;

/**
 * The moments at which this process itself saw posts become durable, for stores that keep no such moment. Bounded
 * memory: an implementation may forget the oldest.
 */
public interface CommitInspector {

    void forEach(BiConsumer<UUID, Instant> consumer);

    void reset();
}
