package io.writepath.store.jpa;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.binder.MeterBinder;
import io.writepath.batching.Batcher;
import io.writepath.post.Post;
import io.writepath.post.PostBatchWriter;
import io.writepath.post.PostBatchWriter.Outcome;
import io.writepath.post.PostConflictException;
import io.writepath.post.PostReader;
import io.writepath.post.PostWriter;
import io.writepath.post.StoreUnavailableException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.LongAdder;

/**
 * Writes a post at once, or together with those that arrive while earlier inserts are under way: one statement and one
 * commit for all of them. Each caller is answered after that commit, by what became of its post.
 */
final class BatchedPostWriter implements PostWriter, MeterBinder {

    private final Batcher<Post, Outcome> inserts;
    private final PostReader reader;
    private final Duration wait;
    private final LongAdder timeouts = new LongAdder();

    /**
     * Writes what a caller waits for.
     *
     * @param executor runs each insert, which blocks
     * @param insertsInFlightMax of which each takes a connection
     * @param wait how long a caller waits at most for its insert
     */
    BatchedPostWriter(
            PostBatchWriter store, PostReader reader, Executor executor, int insertsInFlightMax, Duration wait) {
        this.inserts = new Batcher<>(
                "insert",
                "posts",
                insertsInFlightMax,
                posts -> CompletableFuture.supplyAsync(() -> store.write(posts), executor));
        this.reader = reader;
        this.wait = wait;
    }

    @Override
    public Post write(Post post) {
        CompletableFuture<Outcome> outcome = new CompletableFuture<>();
        if (!inserts.send(post, outcome)) {
            throw new StoreUnavailableException("the queue before PostgreSQL is full");
        }
        return switch (await(outcome)) {
            case STORED -> post;
            case ALREADY_STORED -> reader.find(post.id()).orElse(post);
            case CONFLICTING -> throw new PostConflictException(post.id());
            case REJECTED -> throw new IllegalStateException("PostgreSQL refuses post " + post.id());
        };
    }

    /** A post whose caller gives up stays out of the next insert; one that is under way may still store it. */
    private Outcome await(CompletableFuture<Outcome> outcome) {
        try {
            return outcome.get(wait.toNanos(), TimeUnit.NANOSECONDS);
        } catch (TimeoutException late) {
            outcome.cancel(false);
            timeouts.increment();
            throw new StoreUnavailableException(
                    "PostgreSQL did not answer in %d ms; the post may or may not be stored".formatted(wait.toMillis()));
        } catch (InterruptedException interrupted) {
            outcome.cancel(false);
            Thread.currentThread().interrupt();
            throw new StoreUnavailableException("interrupted while waiting for PostgreSQL");
        } catch (ExecutionException failed) {
            if (failed.getCause() instanceof StoreUnavailableException unavailable) {
                throw new StoreUnavailableException(String.valueOf(unavailable.getMessage()), unavailable);
            }
            throw new IllegalStateException(failed.getCause());
        }
    }

    /** Inserts, and the posts whose callers gave up. What PostgreSQL could not serve is counted where it was asked. */
    @Override
    public void bindTo(MeterRegistry registry) {
        inserts.bindTo(registry);
        FunctionCounter.builder("writepath.store.timeouts", timeouts, LongAdder::sum)
                .register(registry);
    }
}
