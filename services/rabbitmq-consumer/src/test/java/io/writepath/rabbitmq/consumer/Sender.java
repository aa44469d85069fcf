package io.writepath.rabbitmq.consumer;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.rabbitmq.client.AMQP;
import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.ConnectionFactory;
import com.rabbitmq.client.GetResponse;
import com.rabbitmq.client.MessageProperties;
import io.writepath.post.Post;
import io.writepath.queue.rabbitmq.PostMessages;
import io.writepath.queue.rabbitmq.QueueNames;
import io.writepath.queue.rabbitmq.QueueSettings;
import io.writepath.queue.rabbitmq.QueueTopology;
import io.writepath.testsupport.RabbitService;
import java.io.IOException;
import java.time.Instant;
import java.util.List;
import java.util.UUID;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** Puts posts into the queue as the producer does, and looks into the dead-letter queue. */
final class Sender implements AutoCloseable {

    /** Posts in one message. */
    static final int GROUP = 10;

    private static final long CONFIRM_TIMEOUT_MS = 30_000;
    private static final QueueSettings DEFAULTS = new QueueSettings(1_000_000, 100);

    private final Connection connection;
    private final Channel channel;

    Sender(RabbitService rabbit) throws Exception {
        ConnectionFactory factory = new ConnectionFactory();
        factory.setHost(rabbit.host());
        factory.setPort(rabbit.port());
        factory.setUsername(rabbit.username());
        factory.setPassword(rabbit.password());
        connection = factory.newConnection("test-sender");
        channel = connection.createChannel();
        channel.confirmSelect();
    }

    static List<Post> posts(int count) {
        return IntStream.range(0, count)
                .mapToObj(i -> new Post(UUID.randomUUID(), "영화가 좋다 " + i, Instant.now()))
                .toList();
    }

    /** Ten posts a message. */
    void send(List<Post> posts) throws Exception {
        for (int from = 0; from < posts.size(); from += GROUP) {
            send("posts", body(posts.subList(from, Math.min(from + GROUP, posts.size()))));
        }
        awaitConfirms();
    }

    /** What a message of these posts holds. */
    static byte[] body(List<Post> posts) {
        return posts.stream()
                .map(post -> new String(PostMessages.encode(post).body(), UTF_8))
                .collect(Collectors.joining("\n"))
                .getBytes(UTF_8);
    }

    /** Sends a body as if it were posts; {@link #awaitConfirms} tells when it is queued. */
    void send(String id, byte[] body) throws IOException {
        send(id, PostMessages.TYPE, body);
    }

    void send(String id, String type, byte[] body) throws IOException {
        AMQP.BasicProperties properties = MessageProperties.MINIMAL_PERSISTENT_BASIC
                .builder()
                .type(type)
                .messageId(id)
                .build();
        channel.basicPublish(QueueNames.EXCHANGE, QueueNames.ROUTING_KEY, properties, body);
    }

    void awaitConfirms() throws Exception {
        channel.waitForConfirmsOrDie(CONFIRM_TIMEOUT_MS);
    }

    /** Takes one message out of the dead-letter queue; null when it is empty. */
    @Nullable
    GetResponse takeParked() throws IOException {
        boolean automaticAcknowledgement = true;
        return channel.basicGet(QueueNames.DEAD_LETTER_QUEUE, automaticAcknowledgement);
    }

    /** Puts a durable classic queue, bound alike, in the place of ours; throws while somebody is faster. */
    boolean makeClassicQueue() throws Exception {
        try (Channel own = connection.createChannel()) {
            own.queueDelete(QueueNames.QUEUE);
            own.queueDeclare(QueueNames.QUEUE, true, false, false, null);
            own.queueBind(QueueNames.QUEUE, QueueNames.EXCHANGE, QueueNames.ROUTING_KEY);
            return true;
        }
    }

    /** Deletes the queue and declares it again as it was, within a millisecond. */
    void makeQueueAgain() throws IOException {
        channel.queueDelete(QueueNames.QUEUE);
        channel.queueDeclare(QueueNames.QUEUE, true, false, false, new QueueTopology(DEFAULTS).arguments());
        channel.queueBind(QueueNames.QUEUE, QueueNames.EXCHANGE, QueueNames.ROUTING_KEY);
    }

    void deleteQueue() throws IOException {
        channel.queueDelete(QueueNames.QUEUE);
    }

    @Override
    public void close() throws IOException {
        connection.close();
    }
}
