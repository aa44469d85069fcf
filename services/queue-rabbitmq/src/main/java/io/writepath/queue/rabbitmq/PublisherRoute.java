package io.writepath.queue.rabbitmq;

/**
 * Where and how one publisher sends.
 *
 * @param name of its threads, and in the log
 */
public record PublisherRoute(String name, String exchange, Grouping grouping, PublishMode mode) {

    /** Each message alone and confirmed. */
    public PublisherRoute(String name, String exchange) {
        this(name, exchange, Grouping.NONE, PublishMode.SAFE);
    }
}
