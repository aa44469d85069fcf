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
import java.util.UUID;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.ToIntFunction;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Sends documents in bulks whose size follows the load. Few go at once, while a bulk may still go out. Once several are
 * under way, one waits for others, at most for the linger, so that one flush of the translog serves all of them. The
 * client's own BulkIngester knows only a timer and blocks its callers when it is full.
 *
 * <p>Each lane has a queue and bulks of its own. With a lane for each shard a bulk goes to one shard, and a shard that
 * is slow or gone delays no document of another.
 */
final class BulkSender implements DocumentSender {

    private static final int DOCUMENTS_MAX = 500;
    private static final int QUEUE_MAX = 10_000;

    /** Documents queued or sent from which on the next ones wait: below that there is hardly one to wait for. */
    private static final int SEVERAL = 4;

    private static final long NOTHING_WAITS = Long.MAX_VALUE;

    private final ElasticsearchAsyncClient client;
    private final Time copiesWait;
    private final CommitRecorder commits;
    private final Executor executor;
    private final long lingerNanos;
    private final int bulksOfLaneMax;
    private final List<Lane> lanes;
    private final ToIntFunction<UUID> laneOf;
    private final AtomicInteger underWay = new AtomicInteger();
    private final LongAdder bulks = new LongAdder();
    private final LongAdder documents = new LongAdder();
    private final LongAdder rejected = new LongAdder();

    BulkSender(
            ElasticsearchAsyncClient client,
            Time copiesWait,
            CommitRecorder commits,
            Executor executor,
            ElasticsearchSettings settings) {
        this.client = client;
        this.copiesWait = copiesWait;
        this.commits = commits;
        this.executor = executor;
        this.lingerNanos = TimeUnit.MILLISECONDS.toNanos(settings.lingerMs());
        int count = settings.laneCount();
        this.bulksOfLaneMax = Math.max(1, settings.bulksInFlight() / count);
        this.lanes = Stream.generate(Lane::new).limit(count).toList();
        this.laneOf = count == 1 ? id -> 0 : new ShardRouting(count)::shardOf;
    }

    @Override
    public CompletableFuture<Reply> send(Operation operation) {
        Waiting waiting = new Waiting(operation, new CompletableFuture<>(), System.nanoTime());
        Lane lane = lanes.get(laneOf.applyAsInt(operation.id()));
        underWay.incrementAndGet();
        if (lane.queue.offer(waiting)) {
            lane.dispatch();
        } else {
            underWay.decrementAndGet();
            rejected.increment();
            waiting.reply().complete(new Reply.Unavailable("the queue before Elasticsearch is full"));
        }
        return waiting.reply();
    }

    private final class Lane {

        private final BlockingQueue<Waiting> queue = new LinkedBlockingQueue<>(QUEUE_MAX);
        private final Semaphore slots = new Semaphore(bulksOfLaneMax);
        private final AtomicBoolean wakes = new AtomicBoolean();

        /**
         * Looks at the queue again after every release of a slot, so that nothing that is due is left waiting with a
         * slot free; what is not due yet has a timer.
         */
        private void dispatch() {
            long waitNanos = waitNanos();
            while (waitNanos <= 0 && slots.tryAcquire()) {
                List<Waiting> batch = nextBatch();
                if (batch.isEmpty()) {
                    slots.release();
                } else {
                    submit(batch);
                }
                waitNanos = waitNanos();
            }
            if (waitNanos > 0 && waitNanos != NOTHING_WAITS) {
                wakeAfter(waitNanos);
            }
        }

        /** How much longer the oldest document waits for others; not above zero where it is due. */
        private long waitNanos() {
            Waiting oldest = queue.peek();
            if (oldest == null) {
                return NOTHING_WAITS;
            }
            if (underWay.get() < SEVERAL || queue.size() >= DOCUMENTS_MAX) {
                return 0;
            }
            return oldest.sinceNanos() + lingerNanos - System.nanoTime();
        }

        /** One timer at a time: it was set for a document at least as old as any that waits when it goes off. */
        private void wakeAfter(long nanos) {
            if (wakes.compareAndSet(false, true)) {
                CompletableFuture.delayedExecutor(nanos, TimeUnit.NANOSECONDS, executor)
                        .execute(() -> {
                            wakes.set(false);
                            dispatch();
                        });
            }
        }

        /** Those whose callers gave up stay out: what they heard is «unknown», and it had better be «not written». */
        private List<Waiting> nextBatch() {
            List<Waiting> batch = new ArrayList<>();
            int drained = queue.drainTo(batch, DOCUMENTS_MAX);
            batch.removeIf(waiting -> waiting.reply().isDone());
            underWay.addAndGet(batch.size() - drained);
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
            underWay.addAndGet(-batch.size());
            slots.release();
            dispatch();
            if (response == null) {
                fail(batch, failure);
            } else {
                answer(batch, response, arrivedAt);
            }
        }
    }

    private void answer(List<Waiting> batch, BulkResponse response, Instant arrivedAt) {
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
        int bulksMax = lanes.size() * bulksOfLaneMax;
        Gauge.builder("writepath.bulk.queued", () -> sum(lane -> lane.queue.size()))
                .register(registry);
        Gauge.builder("writepath.bulks.in.flight", () -> bulksMax - sum(lane -> lane.slots.availablePermits()))
                .register(registry);
        Gauge.builder("writepath.bulks.in.flight.max", () -> bulksMax).register(registry);
        Gauge.builder("writepath.bulk.documents.mean", this::documentsMean).register(registry);
        FunctionCounter.builder("writepath.bulk.rejected", rejected, LongAdder::sum)
                .register(registry);
        FunctionCounter.builder("writepath.bulks.sent", bulks, LongAdder::sum).register(registry);
    }

    private int sum(ToIntFunction<Lane> figure) {
        return lanes.stream().mapToInt(figure).sum();
    }

    private double documentsMean() {
        double sent = bulks.doubleValue();
        return sent == 0 ? 0 : documents.doubleValue() / sent;
    }

    private record Waiting(Operation operation, CompletableFuture<Reply> reply, long sinceNanos) {}
}
