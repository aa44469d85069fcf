package io.writepath.queue.rabbitmq;

import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.springframework.amqp.rabbit.connection.ConnectionFactory;

/** One publishing connection with its channels. Once it or any channel breaks, all of it has ended. */
final class PublisherSession implements AutoCloseable {

    private final Connection connection;
    private final TopologyRepair repair;
    private final List<ConfirmChannel> channels = new ArrayList<>();
    private final AtomicInteger turn = new AtomicInteger();
    private final CountDownLatch ended = new CountDownLatch(1);
    private volatile boolean blocked;

    private PublisherSession(Connection connection, TopologyRepair repair) {
        this.connection = connection;
        this.repair = repair;
    }

    static PublisherSession open(
            ConnectionFactory connections, QueueTopology topology, PublisherRoute route, PublisherCounters counters)
            throws IOException {
        TopologyRepair repair = new TopologyRepair(route.name(), () -> topology.declare(connections), counters.repairs);
        PublisherSession session = new PublisherSession(BrokerConnections.open(connections), repair);
        try {
            topology.declare(connections);
            session.prepare(route, counters);
            return session;
        } catch (IOException | RuntimeException e) {
            session.close();
            throw e;
        }
    }

    private void prepare(PublisherRoute route, PublisherCounters counters) throws IOException {
        connection.addBlockedListener(reason -> blocked = true, () -> blocked = false);
        connection.addShutdownListener(cause -> end());
        for (int i = 0; i < route.channels(); i++) {
            Channel channel = BrokerConnections.channelOf(connection);
            channel.addShutdownListener(cause -> end());
            channels.add(new ConfirmChannel(channel, route, i, counters, repair::request));
        }
    }

    /** Hands the publication to the next channel; its outcome is complete already when none can take it. */
    void publish(Publication publication) {
        if (blocked) {
            publication.outcome().complete(PublishOutcome.BLOCKED);
            return;
        }
        int next = Math.floorMod(turn.getAndIncrement(), channels.size());
        if (!channels.get(next).offer(publication)) {
            publication.outcome().complete(PublishOutcome.BUSY);
        }
    }

    boolean blocked() {
        return blocked;
    }

    int unconfirmed() {
        return channels.stream().mapToInt(ConfirmChannel::unconfirmed).sum();
    }

    void awaitEnd() throws InterruptedException {
        ended.await();
    }

    private void end() {
        ended.countDown();
        channels.forEach(ConfirmChannel::close);
    }

    @Override
    public void close() {
        end();
        BrokerConnections.abort(connection);
    }
}
