package io.writepath.queue.rabbitmq;

import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import java.io.IOException;
import java.util.concurrent.CountDownLatch;
import org.springframework.amqp.rabbit.connection.ConnectionFactory;

/** One publishing connection with its channel. Once either breaks, both have ended. */
final class PublisherSession implements AutoCloseable {

    private final Connection connection;
    private final ConfirmChannel channel;
    private final CountDownLatch ended = new CountDownLatch(1);
    private volatile boolean blocked;

    private PublisherSession(Connection connection, ConfirmChannel channel) {
        this.connection = connection;
        this.channel = channel;
    }

    static PublisherSession open(
            ConnectionFactory connections, QueueTopology topology, PublisherRoute route, PublisherCounters counters)
            throws IOException {
        TopologyRepair repair = new TopologyRepair(route.name(), () -> topology.declare(connections), counters.repairs);
        Connection connection = BrokerConnections.open(connections);
        try {
            topology.declare(connections);
            Channel plain = BrokerConnections.channelOf(connection);
            ConfirmChannel confirming = new ConfirmChannel(plain, route, counters, repair::request);
            PublisherSession session = new PublisherSession(connection, confirming);
            session.watch(plain);
            return session;
        } catch (IOException | RuntimeException e) {
            BrokerConnections.abort(connection);
            throw e;
        }
    }

    /** Of what has ended already, its listener is told at once. */
    private void watch(Channel plain) {
        connection.addBlockedListener(reason -> blocked = true, () -> blocked = false);
        connection.addShutdownListener(cause -> end());
        plain.addShutdownListener(cause -> end());
    }

    /** Hands the publication over; its outcome is complete already when it cannot be taken. */
    void publish(Publication publication) {
        if (blocked) {
            publication.outcome().complete(PublishOutcome.BLOCKED);
        } else if (!channel.offer(publication)) {
            publication.outcome().complete(PublishOutcome.BUSY);
        }
    }

    boolean blocked() {
        return blocked;
    }

    int unconfirmed() {
        return channel.unconfirmed();
    }

    void awaitEnd() throws InterruptedException {
        ended.await();
    }

    private void end() {
        ended.countDown();
        channel.close();
    }

    @Override
    public void close() {
        end();
        BrokerConnections.abort(connection);
    }
}
