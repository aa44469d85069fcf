package io.writepath.post;

/** Truth about the queue between ingress and store; only the queue paths have one. */
public interface QueueInspector {

    /** Returns normally once the broker answers and its queues are there; else throws, saying what is missing. */
    default void assertReady() {
        pending();
    }

    /** Depths in messages, as the broker and this process know them now. */
    Pending pending();

    /** Purges queue and dead-letter queue. */
    void reset();

    Durability durability();

    /**
     * Messages on their way, at one moment.
     *
     * @param ready waiting in the queue
     * @param unacknowledged delivered to this process and not acknowledged yet
     * @param dead parked in the dead-letter queue
     */
    record Pending(long ready, long unacknowledged, long dead) {}
}
