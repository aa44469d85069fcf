package io.writepath.batching;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.binder.MeterBinder;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/**
 * Sends items in batches whose size follows the load: at once while a batch may still go out, otherwise together with
 * whatever else arrives until one comes back. A lone item so waits for no timer, and under load one flush to disk
 * serves hundreds. Batches have the items in the order in which they came.
 *
 * @param <T> an item
 * @param <R> what became of one
 */
public final class Batcher<T, R> implements MeterBinder {

    private static final int ITEMS_MAX = 500;
    private static final int QUEUE_MAX = 10_000;

    private final String batch;
    private final String items;
    private final int inFlightMax;
    private final Sender<T, R> sender;
    private final Semaphore slots;
    private final BlockingQueue<Waiting<T, R>> queue = new ArrayBlockingQueue<>(QUEUE_MAX);
    private final LongAdder batchesSent = new LongAdder();
    private final LongAdder itemsSent = new LongAdder();

    /** Takes a batch to where it belongs. */
    @FunctionalInterface
    public interface Sender<T, R> {

        /**
         * Never blocks.
         *
         * @param items not empty
         * @return completes with what became of each item, in their order; exceptionally where that is known of none
         */
        CompletableFuture<List<R>> send(List<T> items);
    }

    /**
     * Idle until an item is sent.
     *
     * @param batch what a batch is called in the names of metrics, as in {@code bulk}
     * @param items what its items are called there, as in {@code documents}
     * @param inFlightMax batches under way at most; the items that arrive meanwhile make up the next one
     */
    public Batcher(String batch, String items, int inFlightMax, Sender<T, R> sender) {
        this.batch = batch;
        this.items = items;
        this.inFlightMax = inFlightMax;
        this.sender = sender;
        this.slots = new Semaphore(inFlightMax);
    }

    /**
     * Never blocks.
     *
     * @param outcome is completed with what became of the item, or exceptionally. A caller who gives up cancels it: an
     *     item that has not gone out then stays out
     * @return false: the queue is full, and nothing will be done
     */
    public boolean send(T item, CompletableFuture<R> outcome) {
        if (!queue.offer(new Waiting<>(item, outcome))) {
            return false;
        }
        dispatch();
        return true;
    }

    /** Looks at the queue again after every release of a slot, so that nothing is left waiting with a slot free. */
    private void dispatch() {
        while (!queue.isEmpty() && slots.tryAcquire()) {
            List<Waiting<T, R>> next = nextBatch();
            if (next.isEmpty()) {
                slots.release();
            } else {
                submit(next);
            }
        }
    }

    /** Those whose callers gave up stay out: what they heard is «unknown», and it had better be «not written». */
    private List<Waiting<T, R>> nextBatch() {
        List<Waiting<T, R>> next = new ArrayList<>();
        queue.drainTo(next, ITEMS_MAX);
        next.removeIf(waiting -> waiting.outcome().isDone());
        return next;
    }

    private void submit(List<Waiting<T, R>> sent) {
        batchesSent.increment();
        itemsSent.add(sent.size());
        CompletableFuture<List<R>> outcomes;
        try {
            outcomes = sender.send(sent.stream().map(Waiting::item).toList());
        } catch (RuntimeException unsendable) {
            outcomes = CompletableFuture.failedFuture(unsendable);
        }
        var unused = outcomes.whenComplete((arrived, failure) -> complete(sent, arrived, failure));
    }

    private void complete(List<Waiting<T, R>> sent, @Nullable List<R> outcomes, @Nullable Throwable failure) {
        slots.release();
        dispatch();
        for (int i = 0; i < sent.size(); i++) {
            CompletableFuture<R> outcome = sent.get(i).outcome();
            if (outcomes == null) {
                outcome.completeExceptionally(Objects.requireNonNull(failure, "one of the two is there"));
            } else {
                outcome.complete(outcomes.get(i));
            }
        }
    }

    @Override
    public void bindTo(MeterRegistry registry) {
        String one = "writepath." + batch;
        String many = one + "s";
        Gauge.builder(one + ".queued", queue::size).register(registry);
        Gauge.builder(one + "." + items + ".mean", this::itemsMean).register(registry);
        Gauge.builder(many + ".in.flight", () -> inFlightMax - slots.availablePermits())
                .register(registry);
        Gauge.builder(many + ".in.flight.max", () -> inFlightMax).register(registry);
        FunctionCounter.builder(many + ".sent", batchesSent, LongAdder::sum).register(registry);
    }

    private double itemsMean() {
        double sent = batchesSent.doubleValue();
        return sent == 0 ? 0 : itemsSent.doubleValue() / sent;
    }

    private record Waiting<T, R>(T item, CompletableFuture<R> outcome) {}
}
