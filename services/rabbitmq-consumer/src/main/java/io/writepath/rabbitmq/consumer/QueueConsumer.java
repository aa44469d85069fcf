package io.writepath.rabbitmq.consumer;

import com.rabbitmq.client.AlreadyClosedException;
import io.writepath.post.Gauges;
import io.writepath.post.StoreUnavailableException;
import io.writepath.queue.rabbitmq.Backoff;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.context.SmartLifecycle;

/**
 * Takes batches from the queue, one at a time, on one thread of its own, and replaces a lost connection. Speaks to the
 * client library directly: a listener container adds nothing to a loop that must hold its batch while the store is
 * down.
 */
final class QueueConsumer implements SmartLifecycle, Gauges {

    private static final Logger log = LoggerFactory.getLogger(QueueConsumer.class);
    private static final Duration LONGEST_PAUSE = Duration.ofSeconds(1);
    private static final Duration STOP_TIMEOUT = Duration.ofSeconds(10);
    private static final Duration RESET_TIMEOUT = Duration.ofSeconds(10);

    private final Callable<ConsumerSession> opener;
    private final BatchProcessor processor;
    private final ConsumerCounters counters;
    private final AtomicReference<@Nullable CompletableFuture<Void>> requestedReset = new AtomicReference<>();
    private volatile boolean running;
    private volatile @Nullable ConsumerSession session;
    private @Nullable Thread thread;

    QueueConsumer(Callable<ConsumerSession> opener, BatchProcessor processor, ConsumerCounters counters) {
        this.opener = opener;
        this.processor = processor;
        this.counters = counters;
    }

    @Override
    public void start() {
        running = true;
        thread = Thread.ofPlatform().name("queue-consumer").start(this::run);
    }

    /** Lets the batch in hand finish; one that waits for its store is left to the broker, which delivers it again. */
    @Override
    public void stop() {
        running = false;
        Thread consuming = thread;
        try {
            if (consuming != null && !consuming.join(STOP_TIMEOUT)) {
                log.warn("a batch did not finish within {} s; the broker delivers it again", STOP_TIMEOUT.toSeconds());
                consuming.interrupt();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Override
    public boolean isRunning() {
        return running;
    }

    boolean connected() {
        ConsumerSession open = session;
        return open != null && open.isOpen();
    }

    /** Messages delivered here and not acknowledged. */
    long unacknowledged() {
        ConsumerSession open = session;
        return open == null ? 0 : open.unacknowledged();
    }

    /** Throws away every message of queue, dead-letter queue and this process, between two batches. */
    void reset() {
        CompletableFuture<Void> mine = new CompletableFuture<>();
        CompletableFuture<Void> reset =
                Objects.requireNonNull(requestedReset.updateAndGet(asked -> asked == null ? mine : asked));
        try {
            reset.get(RESET_TIMEOUT.toMillis(), TimeUnit.MILLISECONDS);
        } catch (TimeoutException | ExecutionException e) {
            throw new StoreUnavailableException("the queue could not be emptied: no connection to the broker", e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new StoreUnavailableException("interrupted while the queue was emptied", e);
        } finally {
            requestedReset.compareAndSet(reset, null);
        }
    }

    @Override
    public Map<String, Double> read() {
        return Map.of("consumer_connected", connected() ? 1.0 : 0.0, "queue_unacknowledged", (double) unacknowledged());
    }

    private void run() {
        Backoff backoff = new Backoff(LONGEST_PAUSE);
        while (running) {
            try (ConsumerSession opened = opener.call()) {
                session = opened;
                log.info("consuming");
                consume(opened, backoff);
            } catch (InterruptedException e) {
                return;
            } catch (Exception e) {
                log.warn("not consuming: {}", e.toString());
                pause(backoff.next());
            } finally {
                session = null;
            }
        }
    }

    private void consume(ConsumerSession open, Backoff backoff) throws IOException, InterruptedException {
        while (running && open.isOpen()) {
            CompletableFuture<Void> reset = requestedReset.get();
            if (reset != null) {
                open.discardEverything();
                requestedReset.compareAndSet(reset, null);
                reset.complete(null);
                return;
            }
            List<Delivery> batch = open.nextBatch();
            if (batch.isEmpty()) {
                counters.lagMs.set(0);
            } else if (finish(batch, open)) {
                backoff.reset();
            }
        }
    }

    private boolean finish(List<Delivery> batch, ConsumerSession open) throws IOException, InterruptedException {
        try {
            processor.process(batch, () -> running && open.isOpen() && requestedReset.get() == null);
            open.acknowledge(batch);
            counters.consumed.add(batch.size());
            counters.batches.increment();
            return true;
        } catch (Patience.AbandonedException e) {
            log.info("left a batch of {} unacknowledged", batch.size());
        } catch (AlreadyClosedException e) {
            log.warn("{} posts are stored but not acknowledged; the broker delivers them again", batch.size());
        }
        return false;
    }

    private void pause(Duration pause) {
        long until = System.nanoTime() + pause.toNanos();
        while (running && System.nanoTime() < until) {
            try {
                Thread.sleep(Duration.ofMillis(20));
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                return;
            }
        }
    }
}
