package io.writepath.queue.rabbitmq;

import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.GetResponse;
import io.writepath.post.Post;
import io.writepath.testsupport.RabbitService;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.springframework.amqp.rabbit.connection.CachingConnectionFactory;

/** The tests' own hand on the broker: forgets the topology, breaks it, and connects what is tested. */
final class Broker {

    static final BrokerSettings SETTINGS = new BrokerSettings(Duration.ofSeconds(10));

    private Broker() {}

    /** As the applications set Boot's factory, which needs a context. */
    static CachingConnectionFactory connections(RabbitService rabbit) {
        CachingConnectionFactory connections = new CachingConnectionFactory(rabbit.host(), rabbit.port());
        connections.setUsername(rabbit.username());
        connections.setPassword(rabbit.password());
        connections.setRequestedHeartBeat(10);
        connections.setConnectionTimeout(2_000);
        connections.setCloseTimeout(1_000);
        connections.getRabbitConnectionFactory().setHandshakeTimeout(5_000);
        connections.getRabbitConnectionFactory().setChannelRpcTimeout(5_000);
        return connections;
    }

    static void declare(RabbitService rabbit, QueueTopology topology) {
        CachingConnectionFactory connections = connections(rabbit);
        topology.declare(connections);
        connections.destroy();
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
        try (Connection connection = BrokerConnections.open(connections(rabbit));
                Channel channel = connection.createChannel()) {
            action.run(channel);
        }
    }

    /** Takes every message out of the queue; their bodies, in their order. */
    static List<byte[]> takeAll(RabbitService rabbit) throws Exception {
        List<byte[]> bodies = new ArrayList<>();
        onChannel(rabbit, channel -> {
            boolean automaticAcknowledgement = true;
            for (GetResponse next = channel.basicGet(QueueNames.QUEUE, automaticAcknowledgement);
                    next != null;
                    next = channel.basicGet(QueueNames.QUEUE, automaticAcknowledgement)) {
                bodies.add(next.getBody());
            }
        });
        return bodies;
    }

    static OutgoingMessage message() {
        return PostMessages.encode(new Post(UUID.randomUUID(), "영화가 좋다", Instant.now()));
    }

    interface Action {
        void run(Channel channel) throws Exception;
    }
}
