package io.writepath.rabbitmq.consumer;

import io.writepath.queue.rabbitmq.PostMessages;
import org.jspecify.annotations.Nullable;
import org.springframework.amqp.core.Message;
import org.springframework.amqp.core.MessageDeliveryMode;
import org.springframework.amqp.core.MessageProperties;

/**
 * One message as the broker delivered it.
 *
 * @param tag number within its channel; acknowledging it as "multiple" acknowledges all before it too
 * @param redelivered the broker delivered it before, and nobody acknowledged it
 * @param persistent its sender asked to keep it on disk
 */
@SuppressWarnings("ArrayRecordComponent") // never compared
record Delivery(
        long tag,
        boolean redelivered,
        boolean persistent,
        @Nullable String type,
        @Nullable String id,
        byte[] body) {

    /** How many posts it holds; 1 where nobody can read it. */
    int posts() {
        return PostMessages.count(body);
    }

    static Delivery of(Message message) {
        MessageProperties properties = message.getMessageProperties();
        return new Delivery(
                properties.getDeliveryTag(),
                Boolean.TRUE.equals(properties.getRedelivered()),
                properties.getReceivedDeliveryMode() == MessageDeliveryMode.PERSISTENT,
                properties.getType(),
                properties.getMessageId(),
                message.getBody());
    }
}
