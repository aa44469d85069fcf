package io.writepath.queue.rabbitmq;

import com.rabbitmq.client.BuiltinExchangeType;
import com.rabbitmq.client.Channel;
import io.writepath.post.QueueNames;
import java.io.IOException;
import java.util.Map;

/**
 * Exchange, queue and dead-letter queue, all durable. Declaring is idempotent, and the broker refuses it when what is
 * there differs: so it is also how the real settings are read back.
 */
public final class QueueTopology {

    private final QueueSettings settings;

    public QueueTopology(QueueSettings settings) {
        this.settings = settings;
    }

    /** Declares everything, dead-letter side first so that nothing can die into a hole. */
    public void declare(Channel channel) throws IOException {
        declareExchanges(channel);
        channel.queueDeclare(QueueNames.DEAD_LETTER_QUEUE, true, false, false, Map.of("x-queue-type", "quorum"));
        channel.queueBind(QueueNames.DEAD_LETTER_QUEUE, QueueNames.DEAD_LETTER_EXCHANGE, QueueNames.ROUTING_KEY);
        channel.queueDeclare(QueueNames.QUEUE, true, false, false, arguments());
        channel.queueBind(QueueNames.QUEUE, QueueNames.EXCHANGE, QueueNames.ROUTING_KEY);
    }

    void declareExchanges(Channel channel) throws IOException {
        channel.exchangeDeclare(QueueNames.DEAD_LETTER_EXCHANGE, BuiltinExchangeType.DIRECT, true);
        channel.exchangeDeclare(QueueNames.EXCHANGE, BuiltinExchangeType.DIRECT, true);
    }

    /**
     * Quorum, because only that type flushes to disk before it confirms. Overflow refuses new messages: the default
     * would delete confirmed ones, and at-least-once dead-lettering needs it as well.
     */
    Map<String, Object> arguments() {
        return Map.of(
                "x-queue-type",
                "quorum",
                "x-max-length",
                settings.maxLength(),
                "x-overflow",
                "reject-publish",
                "x-delivery-limit",
                settings.deliveryLimit(),
                "x-dead-letter-exchange",
                QueueNames.DEAD_LETTER_EXCHANGE,
                "x-dead-letter-routing-key",
                QueueNames.ROUTING_KEY,
                "x-dead-letter-strategy",
                "at-least-once");
    }

    /** Deletes every ready message of both queues. */
    public static void purge(Channel channel) throws IOException {
        channel.queuePurge(QueueNames.QUEUE);
        channel.queuePurge(QueueNames.DEAD_LETTER_QUEUE);
    }
}
