package io.writepath.queue.rabbitmq;

import com.rabbitmq.client.AMQP;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.amqp.AmqpException;
import org.springframework.amqp.rabbit.connection.ConnectionFactory;
import org.springframework.amqp.rabbit.core.RabbitAdmin;

/**
 * Declares for a listener container that found its queue gone. The container takes a refusal for fatal and never
 * consumes again; but a refusal only says that somebody else was faster and made the queue with other settings, and
 * that queue can be consumed all the same. What it is worth, {@link QueueReadBack} tells.
 */
final class TolerantAdmin extends RabbitAdmin {

    private static final Logger log = LoggerFactory.getLogger(TolerantAdmin.class);

    TolerantAdmin(ConnectionFactory connections) {
        super(connections);
    }

    @Override
    public void initialize() {
        try {
            super.initialize();
        } catch (AmqpException failure) {
            AMQP.Channel.Close refusal = BrokerConnections.refusal(failure);
            if (refusal == null) {
                throw failure;
            }
            log.warn("the broker holds other settings than ours: {}", refusal.getReplyText());
        }
    }
}
