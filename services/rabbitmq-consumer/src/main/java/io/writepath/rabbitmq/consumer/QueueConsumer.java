package io.writepath.rabbitmq.consumer;

import com.rabbitmq.client.ShutdownSignalException;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.binder.MeterBinder;
import io.writepath.post.StoreUnavailableException;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.locks.ReentrantLock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.amqp.rabbit.listener.SimpleMessageListenerContainer;
import org.springframework.context.SmartLifecycle;

/** Runs the listener container, and empties the queue when asked to. */
final class QueueConsumer implements SmartLifecycle, MeterBinder {

    private static final Logger log = LoggerFactory.getLogger(QueueConsumer.class);
    private static final Duration RESET_TIMEOUT = Duration.ofSeconds(10);
    private static final Duration STEP = Duration.ofMillis(20);

    private final SimpleMessageListenerContainer container;
    private final BatchListener listener;
    private final Deliveries deliveries;
    private final ReentrantLock lifecycle = new ReentrantLock();
    private volatile boolean running;

    QueueConsumer(SimpleMessageListenerContainer container, BatchListener listener, Deliveries deliveries) {
        this.container = container;
        this.listener = listener;
        this.deliveries = deliveries;
    }

    @Override
    public void start() {
        lifecycle.lock();
        try {
            running = true;
            container.start();
        } finally {
            lifecycle.unlock();
        }
    }

    /** Lets the batch in hand finish; one that waits for its store is left to the broker, which delivers it again. */
    @Override
    public void stop() {
        lifecycle.lock();
        try {
            running = false;
            container.stop();
        } finally {
            lifecycle.unlock();
        }
    }

    @Override
    public boolean isRunning() {
        return running;
    }

    boolean connected() {
        return container.isRunning() && container.getActiveConsumerCount() > 0;
    }

    /** Whether the container stopped by itself, as it does for good on an error it takes for fatal. */
    boolean ended() {
        if (!lifecycle.tryLock()) {
            return false; // stopped on purpose, as in a reset
        }
        try {
            return running && !container.isRunning();
        } finally {
            lifecycle.unlock();
        }
    }

    /** With a consumer that is new to the broker; what is in hand is left to it. */
    void consumeAnew() {
        lifecycle.lock();
        try {
            restart();
        } finally {
            lifecycle.unlock();
        }
    }

    /** Posts delivered here and not acknowledged. */
    long unacknowledged() {
        return deliveries.unacknowledged();
    }

    /** Throws away every message of queue, dead-letter queue and this process, between two batches. */
    void reset() {
        long deadline = System.nanoTime() + RESET_TIMEOUT.toNanos();
        lifecycle.lock();
        try {
            while (!discardEverything(Duration.ofNanos(deadline - System.nanoTime()))) {
                if (System.nanoTime() > deadline) {
                    throw new StoreUnavailableException("the queue could not be emptied: no connection to the broker");
                }
                Thread.sleep(STEP);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new StoreUnavailableException("interrupted while the queue was emptied", e);
        } finally {
            try {
                restart();
                log.info("consuming again after a reset");
            } finally {
                lifecycle.unlock(); // even where the container does not start: the next attempt must get in
            }
        }
    }

    /** False while the batch in hand does not end, nothing consumes, or the connection breaks meanwhile. */
    private boolean discardEverything(Duration wait) throws InterruptedException {
        try {
            return listener.discard(deliveries::discardEverything, wait);
        } catch (IOException | ShutdownSignalException e) {
            log.warn("the queue could not be emptied yet: {}", e.toString());
            restart();
            return false;
        }
    }

    /** The container holds what was thrown away and consumes no more; a fresh one has neither fault. */
    private void restart() {
        container.stop();
        listener.resume();
        if (running) {
            container.start();
        }
    }

    @Override
    public void bindTo(MeterRegistry registry) {
        Gauge.builder("writepath.consumer.connected", () -> connected() ? 1 : 0).register(registry);
        Gauge.builder("writepath.queue.unacknowledged", this::unacknowledged).register(registry);
    }
}
