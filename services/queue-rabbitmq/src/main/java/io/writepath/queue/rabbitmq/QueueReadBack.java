package io.writepath.queue.rabbitmq;

import com.rabbitmq.client.AMQP;
import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.ShutdownSignalException;
import io.writepath.post.Durability;
import io.writepath.post.Durability.Level;
import io.writepath.post.SampledFigures;
import io.writepath.post.StoreUnavailableException;
import io.writepath.post.VersionSource;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.springframework.amqp.AmqpException;
import org.springframework.amqp.rabbit.connection.CachingConnectionFactory;

/**
 * What the broker itself says about the queue, over plain AMQP: the management plug-in is not on every broker. Has its
 * own connection, because a broker in alarm answers nothing on a publishing one.
 */
public final class QueueReadBack implements SampledFigures, VersionSource, AutoCloseable {

    private final CachingConnectionFactory connections;
    private final QueueTopology topology;
    private final PostsPerMessage perMessage;
    private final ReentrantLock lock = new ReentrantLock();
    private @Nullable Connection connection;
    private @Nullable Channel channel;

    /** Uses the factory alone, and closes it in the end. */
    public QueueReadBack(CachingConnectionFactory connections, QueueTopology topology, PostsPerMessage perMessage) {
        this.connections = connections;
        this.topology = topology;
        this.perMessage = perMessage;
    }

    /**
     * Posts waiting in the queue, estimated from the messages: exactly 0 when none waits, else at least one each. No
     * count that an application keeps would survive its end, and the broker does not look into messages.
     */
    public long ready() {
        return perMessage.estimate(messages());
    }

    /** Messages waiting in the queue. */
    public long messages() {
        return ask(
                channel -> (long) channel.queueDeclarePassive(QueueNames.QUEUE).getMessageCount());
    }

    /** Messages parked: one post each, but for a message that holds none and for one that the broker gave up itself. */
    public long dead() {
        return ask(channel ->
                (long) channel.queueDeclarePassive(QueueNames.DEAD_LETTER_QUEUE).getMessageCount());
    }

    /** Deletes what waits in the queue and what is parked. */
    public void purge() {
        ask(channel -> {
            QueueTopology.purge(channel);
            return 0L;
        });
    }

    @Override
    public List<Figure> sample() {
        long messages = messages();
        return List.of(
                new Figure("queue.ready", perMessage.estimate(messages)),
                new Figure("queue.messages", messages),
                new Figure("queue.dead", dead()));
    }

    @Override
    public Map<String, String> versions() {
        return Map.of("rabbitmq", version());
    }

    private String version() {
        return ask(channel ->
                String.valueOf(channel.getConnection().getServerProperties().get("version")));
    }

    /**
     * What a confirm promises: declares the queue again with the settings it should have, which the broker refuses for
     * any other, and says why.
     */
    public Durability durability() {
        Map<String, String> settings = new TreeMap<>();
        settings.put("broker.version", version());
        Level level = Level.A;
        try {
            askOrRefuse(channel -> {
                // Passive first: reading back must not create what is missing.
                channel.queueDeclarePassive(QueueNames.QUEUE);
                topology.declare(connections);
                return 0L;
            });
            settings.put("exchange.durable", "true");
            settings.put("queue.durable", Boolean.toString(topology.durable()));
            topology.arguments().forEach((key, value) -> settings.put("queue." + key, value.toString()));
            if (!topology.durable()) {
                settings.put(Durability.LOWERED_BY, "queue.durable");
                level = Level.C;
            } else if (!topology.flushed()) {
                settings.put(Durability.LOWERED_BY, "queue.x-queue-type");
                level = Level.B;
            }
        } catch (RefusedException e) {
            settings.put("queue.refused", e.getMessage());
            settings.put(Durability.LOWERED_BY, "queue.refused");
            level = e.keepsNothing() ? Level.C : Level.B;
        }
        return new Durability(level, settings);
    }

    @Override
    public void close() {
        lock.lock();
        try {
            disconnect();
            connections.destroy();
        } finally {
            lock.unlock();
        }
    }

    private <T> T ask(Question<T> question) {
        try {
            return askOrRefuse(question);
        } catch (RefusedException e) {
            throw new StoreUnavailableException("the broker refuses: " + e.getMessage(), e);
        }
    }

    private <T> T askOrRefuse(Question<T> question) throws RefusedException {
        lock.lock();
        try {
            return question.ask(openChannel());
        } catch (IOException | TimeoutException | ShutdownSignalException | AmqpException e) {
            disconnect();
            AMQP.Channel.Close refusal = BrokerConnections.refusal(e);
            if (refusal != null) {
                throw new RefusedException(refusal.getReplyText(), e);
            }
            throw new StoreUnavailableException("the broker does not answer", e);
        } finally {
            lock.unlock();
        }
    }

    private Channel openChannel() throws IOException {
        Channel open = channel;
        if (open != null && open.isOpen()) {
            return open;
        }
        disconnect();
        Connection fresh = BrokerConnections.open(connections);
        connection = fresh;
        open = BrokerConnections.channelOf(fresh);
        channel = open;
        return open;
    }

    private void disconnect() {
        Connection open = connection;
        connection = null;
        channel = null;
        if (open != null) {
            BrokerConnections.abort(open);
        }
    }

    private interface Question<T> {
        T ask(Channel channel) throws IOException, TimeoutException;
    }

    /** The broker answered, and the answer is no. */
    private static final class RefusedException extends Exception {

        private static final long serialVersionUID = 1L;

        RefusedException(String message, Throwable cause) {
            super(message, cause);
        }

        /** The queue is missing, or would be after a restart of the broker. */
        boolean keepsNothing() {
            String reason = String.valueOf(getMessage());
            return reason.startsWith("NOT_FOUND") || reason.contains("inequivalent arg 'durable'");
        }
    }
}
