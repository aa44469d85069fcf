package io.writepath.queue.rabbitmq;

import java.util.Map;

/**
 * One message to publish.
 *
 * @param id message id, the post's id where there is one
 * @param headers of AMQP's own simple types; empty for a post
 */
@SuppressWarnings("ArrayRecordComponent") // never compared, and copied by nobody on its way to the socket
public record OutgoingMessage(String id, byte[] body, Map<String, Object> headers) {}
