package io.writepath.store.elasticsearch;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.binder.MeterBinder;
import java.io.IOException;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.LongAdder;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Asks Elasticsearch to try its shards again while writes find no active copy. By itself it gives a shard up for good
 * after five failed attempts, which a full disk uses up within seconds, however much space there is afterwards. More
 * attempts ({@code index.allocation.max_retries}) would only last some seconds longer, as nothing spaces them out.
 */
final class AllocationRetry implements MeterBinder {

    private static final Logger log = LoggerFactory.getLogger(AllocationRetry.class);
    private static final Duration INTERVAL = Duration.ofSeconds(3);

    private final Connection connection;
    private final AtomicBoolean underWay = new AtomicBoolean();
    private final LongAdder retries = new LongAdder();
    private volatile long notBeforeNanos = System.nanoTime();

    AllocationRetry(Connection connection) {
        this.connection = connection;
    }

    /** Told of each write that was not possible; never waits. */
    void note(Reply.Unavailable unavailable) {
        if (unavailable.copiesMissing()
                && System.nanoTime() - notBeforeNanos >= 0
                && underWay.compareAndSet(false, true)) {
            Thread.ofVirtual().name("elasticsearch-allocation").start(this::retry);
        }
    }

    private void retry() {
        try {
            connection.post("/_cluster/reroute", Map.of("retry_failed", "true", "metric", "none"));
            retries.increment();
        } catch (IOException failure) {
            log.debug("Elasticsearch cannot be asked to allocate again", failure);
        } finally {
            notBeforeNanos = System.nanoTime() + INTERVAL.toNanos();
            underWay.set(false);
        }
    }

    @Override
    public void bindTo(MeterRegistry registry) {
        FunctionCounter.builder("writepath.allocation.retries", retries, LongAdder::sum)
                .register(registry);
    }
}
