package io.writepath.post;

/** Truth about the queue between ingress and store; only the queue paths have one. */
public interface QueueInspector {

    /** Returns normally once the broker answers and its queues are there; else throws, saying what is missing. */
    default void assertReady() {
        pending();
    }

    /** Depths in posts, as the broker and this process know them now. */
    Pending pending();

    /** Purges queue and dead-letter queue. */
    void reset();

    Durability durability();

    /**
     * Posts on their way, at one moment.
     *
     * @param ready waiting in the queue: 0 exactly when none waits, otherwise an estimate where messages hold several
     * @param unacknowledged delivered to this process and not acknowledged yet
     * @param dead messages in the dead-letter queue; posts are parked there one by one
     */
    record Pending(long ready, long unacknowledged, long dead) {}
}
