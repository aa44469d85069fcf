package io.writepath.rabbitmq.consumer;

import io.writepath.post.Gauges;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;

/** What became of messages since the application started. */
final class ConsumerCounters implements Gauges {

    /** Batches this process can be at work on at once: its container listens with one thread. */
    private static final double LOOPS = 1;

    /** Messages acknowledged, whatever became of them. */
    final LongAdder consumed = new LongAdder();

    /** Batches acknowledged. */
    final LongAdder batches = new LongAdder();

    /** Time at work on batches, until each was acknowledged or left; the rest goes into waiting and gathering. */
    final LongAdder busyNanos = new LongAdder();

    final LongAdder stored = new LongAdder();

    /** Messages whose post was in the store already, with the same content. */
    final LongAdder suppressedDuplicates = new LongAdder();

    final LongAdder parked = new LongAdder();

    /** Messages the broker had delivered before, to this or another consumer. */
    final LongAdder redelivered = new LongAdder();

    /** Messages stored although their queue was deleted while their batch was gathered. */
    final LongAdder rescued = new LongAdder();

    /** Writes of a batch repeated because the store was not there. */
    final LongAdder storeRetries = new LongAdder();

    final LongAdder notPersistent = new LongAdder();

    /** Age of the oldest post of the last batch when it was stored, milliseconds; 0 while the queue is empty. */
    final AtomicLong lagMs = new AtomicLong();

    @Override
    public Map<String, Double> read() {
        return Map.ofEntries(
                Map.entry("consumer_loops", LOOPS),
                Map.entry("consumer_busy_seconds", busyNanos.doubleValue() / 1e9),
                Map.entry("consumed", consumed.doubleValue()),
                Map.entry("batches", batches.doubleValue()),
                Map.entry("stored", stored.doubleValue()),
                Map.entry("suppressed_duplicates", suppressedDuplicates.doubleValue()),
                Map.entry("parked", parked.doubleValue()),
                Map.entry("redelivered", redelivered.doubleValue()),
                Map.entry("rescued", rescued.doubleValue()),
                Map.entry("store_retries", storeRetries.doubleValue()),
                Map.entry("consumer_lag_ms", lagMs.doubleValue()));
    }
}
