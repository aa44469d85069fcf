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

    ConsumerQueueInspector(QueueConsumer consumer, QueueReadBack readBack, ConsumerCounters counters) {
        this.consumer = consumer;
        this.readBack = readBack;
        this.counters = counters;
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

    /** The queue's level, lowered when messages arrived that their sender had not asked to keep on disk. */
    @Override
    public Durability durability() {
        Durability queue = readBack.durability();
        long notPersistent = counters.notPersistent.sum();
        Map<String, String> settings = new TreeMap<>(queue.settings());
        settings.put("messages.not_persistent", Long.toString(notPersistent));
        return new Durability(notPersistent == 0 ? queue.level() : Level.C, settings);
    }
}
