package io.writepath.queue.rabbitmq;

/** Names on the broker that the two applications of a queue path share. */
public final class QueueNames {

    /** Durable direct exchange the ingress publishes to. */
    public static final String EXCHANGE = "writepath.posts";

    /** Durable quorum queue between ingress and store. */
    public static final String QUEUE = "writepath.posts";

    public static final String ROUTING_KEY = "post";

    /** Durable direct exchange of what cannot be stored, bound with the same routing key. */
    public static final String DEAD_LETTER_EXCHANGE = "writepath.posts.dead";

    /** Durable quorum queue where parked messages wait for a person. */
    public static final String DEAD_LETTER_QUEUE = "writepath.posts.dead";

    private QueueNames() {}
}
