package io.writepath.queue.rabbitmq;

/** How one publishing ended. Only {@link #CONFIRMED} is a promise; after every other the post may still be queued. */
public enum PublishOutcome {
    CONFIRMED("confirmed by the broker"),
    /** All that a publisher without confirms ever learns. */
    SENT("handed to the socket"),
    /** The broker confirms a message without a route too; it returns it first, when asked to. */
    RETURNED("the broker has no queue for this message"),
    NACKED("the queue is full or its disk failed: the broker refused the message"),
    BLOCKED("the broker blocks publishers: it is short of memory or disk"),
    UNCONFIRMED("the broker did not confirm in time"),
    LOST("the connection to the broker broke before it confirmed"),
    DISCONNECTED("no connection to the broker"),
    BUSY("too many posts wait to be sent to the broker");

    private final String reason;

    PublishOutcome(String reason) {
        this.reason = reason;
    }

    /** Whether the sender got all it asked for. */
    public boolean isSuccess() {
        return this == CONFIRMED || this == SENT;
    }

    /** In words a client may see. */
    public String reason() {
        return reason;
    }
}
