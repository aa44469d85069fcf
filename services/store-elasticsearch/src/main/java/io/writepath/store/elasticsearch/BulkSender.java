package io.writepath.store.elasticsearch;

import co.elastic.clients.elasticsearch.ElasticsearchAsyncClient;
import co.elastic.clients.elasticsearch._types.Time;
import co.elastic.clients.elasticsearch.core.BulkResponse;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/**
 * Sends documents in bulks whose size follows the load: at once while a bulk may still go out, otherwise together with
 * whatever else arrives until one comes back. A lone post so waits for no timer, and under load one flush of the
 * translog serves hundreds. The client's own BulkIngester knows only a timer and blocks its callers when it is full.
 */
final class BulkSender implements DocumentSender {

    private static final int DOCUMENTS_MAX = 500;
    private static final int QUEUE_MAX = 10_000;

    private final ElasticsearchAsyncClient client;
    private final Time copiesWait;
    private final CommitRecorder commits;
    private final Executor executor;
    private final int bulksInFlightMax;
    private final Semaphore slots;
    private final BlockingQueue<Waiting> queue = new ArrayBlockingQueue<>(QUEUE_MAX);
    private final LongAdder bulks = new LongAdder();
    private final LongAdder documents = new LongAdder();
    private final LongAdder rejected = new LongAdder();

    BulkSender(
            ElasticsearchAsyncClient client,
            Time copiesWait,
            CommitRecorder commits,
            Executor executor,
            int bulksInFlightMax) {
        this.client = client;
        this.copiesWait = copiesWait;
        this.commits = commits;
        this.executor = executor;
        this.bulksInFlightMax = bulksInFlightMax;
        this.slots = new Semaphore(bulksInFlightMax);
    }

    @Override
    public CompletableFuture<Reply> send(Operation operation) {
        Waiting waiting = new Waiting(operation, new CompletableFuture<>());
        if (queue.offer(waiting)) {
            dispatch();
        } else {
            rejected.increment();
            waiting.reply().complete(new Reply.Unavailable("the queue before Elasticsearch is full"));
        }
        return waiting.reply();
    }

    /** Looks at the queue again after every release of a slot, so that nothing is left waiting with a slot free. */
    private void dispatch() {
        while (!queue.isEmpty() && slots.tryAcquire()) {
            List<Waiting> batch = nextBatch();
            if (batch.isEmpty()) {
                slots.release();
            } else {
                submit(batch);
            }
        }
    }

    /** Those whose callers gave up stay out: what they heard is «unknown», and it had better be «not written». */
    private List<Waiting> nextBatch() {
        List<Waiting> batch = new ArrayList<>();
        queue.drainTo(batch, DOCUMENTS_MAX);
        batch.removeIf(waiting -> waiting.reply().isDone());
        return batch;
    }

    private void submit(List<Waiting> batch) {
        bulks.increment();
        documents.add(batch.size());
        CompletableFuture<BulkResponse> response;
        try {
            response = client.bulk(
                    Requests.bulk(batch.stream().map(Waiting::operation).toList(), copiesWait));
        } catch (RuntimeException unsendable) {
            response = CompletableFuture.failedFuture(unsendable);
        }
        var unused = response.whenCompleteAsync((arrived, failure) -> complete(batch, arrived, failure), executor);
    }

    private void complete(List<Waiting> batch, @Nullable BulkResponse response, @Nullable Throwable failure) {
        Instant arrivedAt = Instant.now();
        slots.release();
        dispatch();
        if (response == null) {
            fail(batch, failure);
        } else {
            complete(batch, response, arrivedAt);
        }
    }

    private void complete(List<Waiting> batch, BulkResponse response, Instant arrivedAt) {
        for (int i = 0; i < batch.size(); i++) {
            Reply reply = Reply.of(response.items().get(i));
            commits.record(batch.get(i).operation(), reply, arrivedAt);
            batch.get(i).reply().complete(reply);
        }
        rejected.add(response.items().stream()
                .filter(item -> item.status() == Failures.TOO_MANY_REQUESTS)
                .count());
    }

    /** No answer at all: whether any of them was written is unknown. */
    private void fail(List<Waiting> batch, @Nullable Throwable failure) {
        if (Failures.status(failure) == Failures.TOO_MANY_REQUESTS) {
            rejected.add(batch.size());
        }
        Reply reply = new Reply.Unavailable(Failures.reason(failure));
        batch.forEach(waiting -> waiting.reply().complete(reply));
    }

    @Override
    public void bindTo(MeterRegistry registry) {
        Gauge.builder("writepath.bulk.queued", queue::size).register(registry);
        Gauge.builder("writepath.bulks.in.flight", () -> bulksInFlightMax - slots.availablePermits())
                .register(registry);
        Gauge.builder("writepath.bulks.in.flight.max", () -> bulksInFlightMax).register(registry);
        Gauge.builder("writepath.bulk.documents.mean", this::documentsMean).register(registry);
        FunctionCounter.builder("writepath.bulk.rejected", rejected, LongAdder::sum)
                .register(registry);
        FunctionCounter.builder("writepath.bulks.sent", bulks, LongAdder::sum).register(registry);
    }

    private double documentsMean() {
        double sent = bulks.doubleValue();
        return sent == 0 ? 0 : documents.doubleValue() / sent;
    }

    private record Waiting(Operation operation, CompletableFuture<Reply> reply) {}
}
