package io.writepath.rabbitmq.consumer;

import com.rabbitmq.client.AMQP;
import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Command;
import com.rabbitmq.client.NoOpMetricsCollector;
import com.rabbitmq.client.TrafficListener;
import io.writepath.queue.rabbitmq.PostMessages;
import io.writepath.queue.rabbitmq.PostsPerMessage;
import io.writepath.queue.rabbitmq.QueueTopology;
import java.io.IOException;
import java.time.Duration;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLong;

/**
 * What the broker delivered to this process and nobody acknowledged, as the client library itself sees it come: the
 * listener sees a message only when its batch is complete, and a queue is not drained while messages wait here for it.
 */
public final class Deliveries extends NoOpMetricsCollector implements TrafficListener {

    private final PostsPerMessage perMessage;
    private final Map<Channel, Consuming> consuming = new ConcurrentHashMap<>();
    private volatile long movedNanos = System.nanoTime();

    /** @param perMessage learns of each message */
    public Deliveries(PostsPerMessage perMessage) {
        this.perMessage = perMessage;
    }

    @Override
    public void basicConsume(Channel channel, String consumerTag, boolean autoAck) {
        movedNanos = System.nanoTime();
        consuming.put(channel, new Consuming(consumerTag, autoAck));
        channel.addShutdownListener(cause -> consuming.remove(channel));
    }

    /** On the connection's reading thread, of every command, before anybody else has what it brings. */
    @Override
    public void read(Command inbound) {
        if (inbound.getMethod() instanceof AMQP.Basic.Deliver delivery) {
            int posts = PostMessages.count(inbound.getContentBody());
            delivered(delivery.getConsumerTag(), delivery.getDeliveryTag(), posts);
        }
    }

    @Override
    public void write(Command outbound) {}

    void delivered(String consumerTag, long deliveryTag, int posts) {
        perMessage.add(posts);
        movedNanos = System.nanoTime();
        consuming.values().stream()
                .filter(here -> here.consumerTag.equals(consumerTag))
                .forEach(here -> here.deliver(deliveryTag, posts));
    }

    @Override
    public void basicAck(Channel channel, long deliveryTag, boolean multiple) {
        Consuming here = consuming.get(channel);
        if (here != null) {
            movedNanos = System.nanoTime();
            here.acknowledge(deliveryTag == 0 ? here.delivered : deliveryTag);
        }
    }

    /** Posts delivered to this process and not acknowledged, over all channels. */
    public long unacknowledged() {
        return consuming.values().stream().mapToLong(here -> here.posts.get()).sum();
    }

    /** Whether nothing is in hand, and nothing has come, gone or begun to be consumed for so long. */
    boolean silentFor(Duration time) {
        return unacknowledged() == 0 && System.nanoTime() - movedNanos >= time.toNanos();
    }

    /** Whether the broker forgets a message as soon as it delivered it, so that there is nothing to acknowledge. */
    boolean isAutomatic(Channel channel) {
        Consuming here = consuming.get(channel);
        return here != null && here.automatic;
    }

    /** Whether any consuming channel is so. */
    boolean anyAutomatic() {
        return consuming.values().stream().anyMatch(here -> here.automatic);
    }

    /** Whether acknowledging up to the last tag acknowledges this batch and nothing else. */
    boolean isNext(Channel channel, long firstTag, long lastTag, int size) {
        Consuming here = consuming.get(channel);
        return here != null && firstTag == here.acknowledged + 1 && lastTag - firstTag + 1 == size;
    }

    /**
     * Throws away every message: waiting, delivered and parked. The container must be restarted afterwards; it does not
     * know that it consumes no more.
     *
     * @return false when nothing consumes, so that nothing was thrown away
     */
    boolean discardEverything() throws IOException {
        boolean discarded = false;
        for (Map.Entry<Channel, Consuming> entry : consuming.entrySet()) {
            Channel channel = entry.getKey();
            channel.basicCancel(entry.getValue().consumerTag);
            boolean allDelivered = true;
            channel.basicAck(0, allDelivered);
            QueueTopology.purge(channel);
            discarded = true;
        }
        return discarded;
    }

    /** One consuming channel; its tags count up from 1, and are acknowledged in order. */
    private static final class Consuming {

        private final String consumerTag;
        private final boolean automatic;
        private final Queue<Held> held = new ConcurrentLinkedQueue<>();
        private final AtomicLong posts = new AtomicLong();
        private volatile long delivered;
        private volatile long acknowledged;

        Consuming(String consumerTag, boolean automatic) {
            this.consumerTag = consumerTag;
            this.automatic = automatic;
        }

        void deliver(long tag, int postsInIt) {
            posts.addAndGet(postsInIt);
            held.add(new Held(tag, postsInIt));
            delivered = tag;
        }

        /** With all before it; by one thread at a time. */
        void acknowledge(long tag) {
            for (Held next = held.peek(); next != null && next.tag <= tag; next = held.peek()) {
                held.remove();
                posts.addAndGet(-next.posts);
            }
            acknowledged = tag;
        }
    }

    private record Held(long tag, int posts) {}
}
