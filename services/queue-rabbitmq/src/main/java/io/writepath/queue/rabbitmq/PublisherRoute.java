package io.writepath.queue.rabbitmq;

/**
 * Where and how one publisher sends, and over how many channels.
 *
 * @param name of its threads, and in the log
 * @param channels few: each is a process on the broker, and they share one socket
 */
public record PublisherRoute(String name, String exchange, int channels, PublishMode mode) {

    public PublisherRoute(String name, String exchange, int channels) {
        this(name, exchange, channels, PublishMode.SAFE);
    }
}
