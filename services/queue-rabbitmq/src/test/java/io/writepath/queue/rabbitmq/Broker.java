package io.writepath.queue.rabbitmq;

import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import io.writepath.post.Post;
import io.writepath.post.QueueNames;
import io.writepath.testsupport.RabbitService;
import java.time.Duration;
import java.time.Instant;
import java.util.UUID;

/** The tests' own hand on the broker: forgets the topology, breaks it, and connects what is tested. */
final class Broker {

    private static final Duration START_TIMEOUT = Duration.ofSeconds(10);

    private Broker() {}

    static BrokerConnections connections(RabbitService rabbit) {
        return new BrokerConnections(new BrokerSettings(
                rabbit.address(), rabbit.username(), rabbit.password(), "/", Duration.ofSeconds(10), START_TIMEOUT));
    }

    /** Deletes queues and exchanges, so that a test may declare them with its own settings. */
    static void forgetTopology(RabbitService rabbit) throws Exception {
        onChannel(rabbit, channel -> {
            channel.queueDelete(QueueNames.QUEUE);
            channel.queueDelete(QueueNames.DEAD_LETTER_QUEUE);
            channel.exchangeDelete(QueueNames.EXCHANGE);
            channel.exchangeDelete(QueueNames.DEAD_LETTER_EXCHANGE);
        });
    }

    static void onChannel(RabbitService rabbit, Action action) throws Exception {
        try (Connection connection = connections(rabbit).open("test");
                Channel channel = connection.createChannel()) {
            action.run(channel);
        }
    }

    static OutgoingMessage message() {
        return PostMessages.encode(new Post(UUID.randomUUID(), "영화가 좋다", Instant.now()));
    }

    interface Action {
        void run(Channel channel) throws Exception;
    }
}
