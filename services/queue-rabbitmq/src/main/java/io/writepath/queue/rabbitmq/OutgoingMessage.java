package io.writepath.queue.rabbitmq;

import java.util.Map;

/**
 * One message to publish, or one post that may share a message.
 *
 * @param id message id, the post's id where there is one
 * @param headers of AMQP's own simple types; empty for a post. A publisher that groups takes none with headers
 */
@SuppressWarnings("ArrayRecordComponent") // never compared, and copied by nobody but into the message that it shares
public record OutgoingMessage(String id, byte[] body, Map<String, Object> headers) {}
