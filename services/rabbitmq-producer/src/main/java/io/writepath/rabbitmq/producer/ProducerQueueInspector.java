package io.writepath.rabbitmq.producer;

import io.writepath.post.Durability;
import io.writepath.post.Durability.Level;
import io.writepath.post.QueueInspector;
import io.writepath.post.StoreUnavailableException;
import io.writepath.queue.rabbitmq.ConfirmPublisher;
import io.writepath.queue.rabbitmq.QueueReadBack;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** The queue as the ingress sees it. What is delivered and not acknowledged, only the consumer knows. */
final class ProducerQueueInspector implements QueueInspector {

    private static final List<String> NEEDED = List.of("publish.confirms", "publish.mandatory");

    private final ConfirmPublisher publisher;
    private final QueueReadBack readBack;

    ProducerQueueInspector(ConfirmPublisher publisher, QueueReadBack readBack) {
        this.publisher = publisher;
        this.readBack = readBack;
    }

    @Override
    public void assertReady() {
        if (!publisher.open()) {
            throw new StoreUnavailableException("no connection to the broker, or it blocks publishers");
        }
        pending();
    }

    @Override
    public Pending pending() {
        return new Pending(readBack.ready(), 0, readBack.dead());
    }

    @Override
    public void reset() {
        readBack.purge();
    }

    /**
     * A durable queue promises nothing for a message nobody confirmed, or that was confirmed without a route: without
     * an open publisher, without confirms and without mandatory messages it is level C.
     */
    @Override
    public Durability durability() {
        Durability queue = readBack.durability();
        Map<String, String> published = publisher.settings();
        Map<String, String> settings = new TreeMap<>(queue.settings());
        settings.putAll(published);
        for (String name : NEEDED) {
            if (!Boolean.parseBoolean(published.get(name))) {
                settings.put(Durability.LOWERED_BY, name);
                return new Durability(Level.C, settings);
            }
        }
        return new Durability(queue.level(), settings);
    }
}
