package io.writepath.queue.rabbitmq;

import com.rabbitmq.client.Channel;
import java.io.IOException;
import java.util.Map;
import org.springframework.amqp.core.AmqpAdmin;
import org.springframework.amqp.core.Binding;
import org.springframework.amqp.core.BindingBuilder;
import org.springframework.amqp.core.Declarable;
import org.springframework.amqp.core.Declarables;
import org.springframework.amqp.core.DirectExchange;
import org.springframework.amqp.core.Exchange;
import org.springframework.amqp.core.Queue;
import org.springframework.amqp.core.QueueBuilder;
import org.springframework.amqp.rabbit.connection.ConnectionFactory;
import org.springframework.amqp.rabbit.core.RabbitAdmin;

/**
 * Exchange, queue and dead-letter queue, all durable but in a naive twin. Declaring is idempotent, and the broker
 * refuses it when what is there differs: so it is also how the real settings are read back.
 */
public final class QueueTopology {

    private static final String MAX_BYTES = "x-max-length-bytes";

    private final Queue queue;
    private final Declarables declarables;

    public QueueTopology(QueueSettings settings) {
        DirectExchange deadExchange = new DirectExchange(QueueNames.DEAD_LETTER_EXCHANGE);
        DirectExchange exchange = new DirectExchange(QueueNames.EXCHANGE);
        Queue dead = QueueBuilder.durable(QueueNames.DEAD_LETTER_QUEUE).quorum().build();
        queue = queue(settings);
        // Dead-letter side first, so that nothing can die into a hole.
        declarables = new Declarables(
                deadExchange,
                dead,
                BindingBuilder.bind(dead).to(deadExchange).with(QueueNames.ROUTING_KEY),
                exchange,
                queue,
                BindingBuilder.bind(queue).to(exchange).with(QueueNames.ROUTING_KEY));
    }

    private static Queue queue(QueueSettings settings) {
        return switch (settings.type()) {
            case QUORUM -> quorum(settings);
            case CLASSIC ->
                QueueBuilder.durable(QueueNames.QUEUE)
                        .withArgument("x-queue-type", "classic")
                        .build();
            case CLASSIC_V2 ->
                classic(QueueBuilder.durable(QueueNames.QUEUE), settings)
                        .withArgument("x-queue-version", 2)
                        .build();
            case CLASSIC_TRANSIENT ->
                classic(QueueBuilder.nonDurable(QueueNames.QUEUE), settings).build();
        };
    }

    /** With the limits of the quorum queue. */
    private static QueueBuilder classic(QueueBuilder queue, QueueSettings settings) {
        return queue.withArgument("x-queue-type", "classic")
                .maxLength(settings.maxLength())
                .withArgument(MAX_BYTES, settings.maxSize().toBytes())
                .overflow(QueueBuilder.Overflow.rejectPublish)
                .deadLetterExchange(QueueNames.DEAD_LETTER_EXCHANGE)
                .deadLetterRoutingKey(QueueNames.ROUTING_KEY);
    }

    /**
     * Quorum, because only that type flushes to disk before it confirms. Overflow refuses new messages: the default
     * would delete confirmed ones, and at-least-once dead-lettering needs it as well.
     */
    private static Queue quorum(QueueSettings settings) {
        return QueueBuilder.durable(QueueNames.QUEUE)
                .quorum()
                .maxLength(settings.maxLength())
                .withArgument(MAX_BYTES, settings.maxSize().toBytes())
                .overflow(QueueBuilder.Overflow.rejectPublish)
                .deliveryLimit(settings.deliveryLimit())
                .deadLetterExchange(QueueNames.DEAD_LETTER_EXCHANGE)
                .deadLetterRoutingKey(QueueNames.ROUTING_KEY)
                .withArgument("x-dead-letter-strategy", "at-least-once")
                .build();
    }

    /**
     * Declares everything, in order.
     *
     * @throws org.springframework.amqp.AmqpException the broker does not answer, or holds other settings
     */
    void declare(ConnectionFactory connections) {
        AmqpAdmin admin = new RabbitAdmin(connections);
        for (Declarable declarable : declarables.getDeclarables()) {
            switch (declarable) {
                case Exchange exchange -> admin.declareExchange(exchange);
                case Queue declared -> admin.declareQueue(declared);
                case Binding binding -> admin.declareBinding(binding);
                default -> throw new IllegalStateException("nobody declares " + declarable);
            }
        }
    }

    Declarables declarables() {
        return declarables;
    }

    /** Whether the queue and what is in it outlive the broker's process. */
    public boolean durable() {
        return queue.isDurable();
    }

    /** Whether a confirm says that the message is flushed: of no type but quorum. */
    boolean flushed() {
        return "quorum".equals(queue.getArguments().get("x-queue-type"));
    }

    /** What the queue is declared with. */
    public Map<String, Object> arguments() {
        return queue.getArguments();
    }

    /** Deletes every ready message of both queues. */
    public static void purge(Channel channel) throws IOException {
        channel.queuePurge(QueueNames.QUEUE);
        channel.queuePurge(QueueNames.DEAD_LETTER_QUEUE);
    }
}
