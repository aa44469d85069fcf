package io.writepath.rabbitmq.consumer;

import io.writepath.post.Durability;
import io.writepath.post.Durability.Level;
import io.writepath.post.QueueInspector;
import io.writepath.post.StoreUnavailableException;
import io.writepath.queue.rabbitmq.QueueReadBack;
import java.util.Map;
import java.util.TreeMap;

/** The queue as its consumer sees it. */
final class ConsumerQueueInspector implements QueueInspector {

    private final QueueConsumer consumer;
    private final QueueReadBack readBack;
    private final ConsumerCounters counters;
    private final Deliveries deliveries;

    ConsumerQueueInspector(
            QueueConsumer consumer, QueueReadBack readBack, ConsumerCounters counters, Deliveries deliveries) {
        this.consumer = consumer;
        this.readBack = readBack;
        this.counters = counters;
        this.deliveries = deliveries;
    }

    @Override
    public void assertReady() {
        if (!consumer.connected()) {
            throw new StoreUnavailableException("no consuming connection to the broker");
        }
        pending();
    }

    @Override
    public Pending pending() {
        return new Pending(readBack.ready(), consumer.unacknowledged(), readBack.dead());
    }

    @Override
    public void reset() {
        consumer.reset();
    }

    /**
     * The queue's level, lowered when messages arrived that their sender had not asked to keep on disk, and where the
     * broker forgets on delivery: from then on the only copy is in this process's memory.
     */
    @Override
    public Durability durability() {
        Durability queue = readBack.durability();
        long notPersistent = counters.notPersistent.sum();
        Map<String, String> settings = new TreeMap<>(queue.settings());
        settings.put("messages.not_persistent", Long.toString(notPersistent));
        boolean automatic = deliveries.anyAutomatic();
        settings.put("consume.automatic_acknowledgement", Boolean.toString(automatic));
        if (notPersistent == 0 && !automatic) {
            return new Durability(queue.level(), settings);
        }
        settings.put(
                Durability.LOWERED_BY, automatic ? "consume.automatic_acknowledgement" : "messages.not_persistent");
        return new Durability(Level.C, settings);
    }
}
