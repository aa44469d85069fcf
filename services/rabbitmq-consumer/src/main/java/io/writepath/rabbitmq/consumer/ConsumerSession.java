package io.writepath.rabbitmq.consumer;

import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import io.writepath.post.QueueNames;
import io.writepath.queue.rabbitmq.BrokerConnections;
import io.writepath.queue.rabbitmq.QueueTopology;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/**
 * One consuming connection: collects deliveries into batches and acknowledges them. When it breaks, the broker delivers
 * everything unacknowledged again, so nothing of it is carried over to the next one.
 */
final class ConsumerSession implements AutoCloseable {

    private static final Duration IDLE_POLL = Duration.ofMillis(50);

    private final Connection connection;
    private final Channel channel;
    private final ConsumerSettings settings;
    /** Bounded by the prefetch. */
    private final BlockingQueue<Delivery> delivered = new LinkedBlockingQueue<>();

    private final AtomicLong unacknowledged = new AtomicLong();
    private String consumerTag = "";
    private volatile boolean cancelled;

    private ConsumerSession(Connection connection, Channel channel, ConsumerSettings settings) {
        this.connection = connection;
        this.channel = channel;
        this.settings = settings;
    }

    /** Declares the topology, which also mends a deleted queue or binding, and starts consuming. */
    static ConsumerSession open(Connection connection, QueueTopology topology, ConsumerSettings settings)
            throws IOException {
        try {
            Channel channel = connection.createChannel();
            topology.declare(channel);
            channel.basicQos(settings.prefetch());
            ConsumerSession session = new ConsumerSession(connection, channel, settings);
            session.consume();
            return session;
        } catch (IOException | RuntimeException e) {
            BrokerConnections.abort(connection);
            throw e;
        }
    }

    private void consume() throws IOException {
        boolean automaticAcknowledgement = false;
        consumerTag = channel.basicConsume(
                QueueNames.QUEUE,
                automaticAcknowledgement,
                (tag, message) -> {
                    unacknowledged.incrementAndGet();
                    delivered.add(new Delivery(
                            message.getEnvelope().getDeliveryTag(),
                            message.getEnvelope().isRedeliver(),
                            message.getProperties(),
                            message.getBody()));
                },
                tag -> cancelled = true);
    }

    /** Waits a moment for a first message, then at most the linger time for the batch to fill; may be empty. */
    List<Delivery> nextBatch() throws InterruptedException {
        List<Delivery> batch = new ArrayList<>();
        Delivery first = delivered.poll(IDLE_POLL.toMillis(), TimeUnit.MILLISECONDS);
        if (first == null) {
            return batch;
        }
        batch.add(first);
        long deadline = System.nanoTime() + settings.linger().toNanos();
        while (batch.size() < settings.batchSize()) {
            if (delivered.drainTo(batch, settings.batchSize() - batch.size()) > 0) {
                continue;
            }
            Delivery next = delivered.poll(deadline - System.nanoTime(), TimeUnit.NANOSECONDS);
            if (next == null) {
                break;
            }
            batch.add(next);
        }
        return batch;
    }

    /** Acknowledges the batch and all before it in one frame; batches are taken in the order of delivery. */
    void acknowledge(List<Delivery> batch) throws IOException {
        boolean multiple = true;
        channel.basicAck(batch.getLast().tag(), multiple);
        unacknowledged.addAndGet(-batch.size());
    }

    /**
     * Throws away every message: waiting, delivered and parked. The session must be closed afterwards, with the
     * deliveries that are on their way here.
     */
    void discardEverything() throws IOException {
        channel.basicCancel(consumerTag);
        boolean allDelivered = true;
        channel.basicAck(0, allDelivered);
        QueueTopology.purge(channel);
    }

    boolean isOpen() {
        return channel.isOpen() && !cancelled;
    }

    long unacknowledged() {
        return unacknowledged.get();
    }

    @Override
    public void close() {
        BrokerConnections.abort(connection);
    }
}
