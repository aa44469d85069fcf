package io.writepath.rabbitmq.consumer;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.binder.MeterBinder;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;

/** What became of posts since the application started. */
final class ConsumerCounters implements MeterBinder {

    /** Batches this process can be at work on at once: its container listens with one thread. */
    private static final int LOOPS = 1;

    /** Posts whose message was acknowledged, whatever became of them. */
    final LongAdder consumed = new LongAdder();

    /** Messages acknowledged. */
    final LongAdder messages = new LongAdder();

    /** Batches acknowledged. */
    final LongAdder batches = new LongAdder();

    /** Time at work on batches, until each was acknowledged or left; the rest goes into waiting and gathering. */
    final LongAdder busyNanos = new LongAdder();

    final LongAdder stored = new LongAdder();

    /** In the store already, with the same content. */
    final LongAdder suppressedDuplicates = new LongAdder();

    final LongAdder parked = new LongAdder();

    /** In messages that the broker had delivered before, to this or another consumer. */
    final LongAdder redelivered = new LongAdder();

    /** Stored although the queue was deleted while their batch was gathered. */
    final LongAdder rescued = new LongAdder();

    /** Writes of a batch repeated because the store was not there. */
    final LongAdder storeRetries = new LongAdder();

    /** Messages whose sender had not asked to keep them on disk. */
    final LongAdder notPersistent = new LongAdder();

    /** Age of the oldest post of the last batch when it was stored, milliseconds; 0 while the queue is empty. */
    final AtomicLong lagMs = new AtomicLong();

    @Override
    public void bindTo(MeterRegistry registry) {
        Map.of(
                        "consumed", consumed,
                        "messages.consumed", messages,
                        "batches", batches,
                        "stored", stored,
                        "suppressed.duplicates", suppressedDuplicates,
                        "parked", parked,
                        "redelivered", redelivered,
                        "rescued", rescued,
                        "store.retries", storeRetries)
                .forEach((name, count) -> FunctionCounter.builder("writepath." + name, count, LongAdder::sum)
                        .register(registry));
        FunctionCounter.builder("writepath.consumer.busy.seconds", busyNanos, nanos -> nanos.sum() / 1e9)
                .register(registry);
        Gauge.builder("writepath.consumer.loops", () -> LOOPS).register(registry);
        Gauge.builder("writepath.consumer.lag.seconds", () -> lagMs.get() / 1e3).register(registry);
    }
}
