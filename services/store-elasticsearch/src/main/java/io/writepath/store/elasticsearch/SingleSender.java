package io.writepath.store.elasticsearch;

import co.elastic.clients.elasticsearch.ElasticsearchAsyncClient;
import co.elastic.clients.elasticsearch._types.Time;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import java.time.Instant;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.LongAdder;

/** One request a document, all at once: what a caller gets who does not think of bulks. */
final class SingleSender implements DocumentSender {

    private final ElasticsearchAsyncClient client;
    private final Time copiesWait;
    private final CommitRecorder commits;
    private final LongAdder sent = new LongAdder();
    private final LongAdder answered = new LongAdder();
    private final LongAdder rejected = new LongAdder();

    SingleSender(ElasticsearchAsyncClient client, Time copiesWait, CommitRecorder commits) {
        this.client = client;
        this.copiesWait = copiesWait;
        this.commits = commits;
    }

    @Override
    public CompletableFuture<Reply> send(Operation operation) {
        sent.increment();
        CompletableFuture<Reply> reply =
                switch (operation) {
                    case Operation.Create create ->
                        client.create(Requests.single(create, copiesWait)).thenApply(Reply::of);
                    case Operation.Append append ->
                        client.index(Requests.single(append, copiesWait)).thenApply(Reply::of);
                    case Operation.Confirm confirm ->
                        client.update(Requests.single(confirm, copiesWait), PostDocument.class)
                                .thenApply(Reply::of);
                };
        return reply.exceptionally(this::failed)
                .whenComplete((arrived, never) -> {
                    answered.increment();
                    commits.record(operation, arrived, Instant.now());
                })
                .copy(); // a caller who gives up cancels the copy: the answer still counts
    }

    private Reply failed(Throwable failure) {
        if (Failures.status(failure) == Failures.TOO_MANY_REQUESTS) {
            rejected.increment();
        }
        return Reply.ofFailure(failure);
    }

    @Override
    public void bindTo(MeterRegistry registry) {
        Gauge.builder("writepath.singles.in.flight", () -> sent.sum() - answered.sum())
                .register(registry);
        FunctionCounter.builder("writepath.singles.sent", sent, LongAdder::sum).register(registry);
        FunctionCounter.builder("writepath.singles.rejected", rejected, LongAdder::sum)
                .register(registry);
    }
}
