package io.writepath.queue.rabbitmq;

/**
 * Where one publisher sends, and over how many channels.
 *
 * @param name of its connection, as the broker's tools show it
 * @param channels few: each is a process on the broker, and they share one socket
 */
public record PublisherRoute(String name, String exchange, int channels) {}
