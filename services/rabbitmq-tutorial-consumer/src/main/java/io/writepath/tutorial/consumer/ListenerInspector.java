package io.writepath.tutorial.consumer;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.binder.MeterBinder;
import io.writepath.post.Durability;
import io.writepath.post.QueueInspector;
import io.writepath.post.StoreUnavailableException;
import io.writepath.queue.rabbitmq.QueueReadBack;
import io.writepath.rabbitmq.consumer.Deliveries;
import java.util.stream.Stream;
import org.springframework.amqp.rabbit.listener.RabbitListenerEndpointRegistry;
import org.springframework.amqp.rabbit.listener.SimpleMessageListenerContainer;

/** The queue as a plain listener's application sees it. */
final class ListenerInspector implements QueueInspector, MeterBinder {

    private final RabbitListenerEndpointRegistry listeners;
    private final Deliveries deliveries;
    private final QueueReadBack readBack;

    ListenerInspector(RabbitListenerEndpointRegistry listeners, Deliveries deliveries, QueueReadBack readBack) {
        this.listeners = listeners;
        this.deliveries = deliveries;
        this.readBack = readBack;
    }

    @Override
    public void assertReady() {
        if (!connected()) {
            throw new StoreUnavailableException("no consuming connection to the broker");
        }
        pending();
    }

    private boolean connected() {
        return containers().anyMatch(container -> container.isRunning() && container.getActiveConsumerCount() > 0);
    }

    private Stream<SimpleMessageListenerContainer> containers() {
        return listeners.getListenerContainers().stream()
                .filter(SimpleMessageListenerContainer.class::isInstance)
                .map(SimpleMessageListenerContainer.class::cast);
    }

    @Override
    public Pending pending() {
        return new Pending(readBack.ready(), deliveries.unacknowledged(), readBack.dead());
    }

    /** The listener stops after the messages it holds, or gives them back: either way nothing is on its way then. */
    @Override
    public void reset() {
        listeners.stop();
        try {
            do {
                readBack.purge();
            } while (readBack.ready() > 0);
        } finally {
            listeners.start();
        }
    }

    @Override
    public Durability durability() {
        return readBack.durability();
    }

    @Override
    public void bindTo(MeterRegistry registry) {
        Gauge.builder("writepath.consumer.connected", () -> connected() ? 1 : 0).register(registry);
        Gauge.builder("writepath.queue.unacknowledged", deliveries::unacknowledged)
                .register(registry);
    }
}
