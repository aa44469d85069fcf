package io.writepath.store.elasticsearch;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.binder.MeterBinder;
import io.writepath.post.Post;
import io.writepath.post.PostConflictException;
import io.writepath.post.PostWriter;
import io.writepath.post.StoreUnavailableException;
import io.writepath.store.elasticsearch.ElasticsearchSettings.Ids;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.LongAdder;

/** Answers each post by the reply to its own document: on disk in every declared copy, or not acknowledged. */
final class ElasticsearchPostWriter implements PostWriter, MeterBinder {

    private final PostIndex index;
    private final DocumentSender sender;
    private final Confirmations confirmations;
    private final AllocationRetry allocation;
    private final ElasticsearchSettings declared;
    private final Duration wait;
    private final IndexAvailability elasticsearch = new IndexAvailability();
    private final LongAdder timeouts = new LongAdder();
    private final LongAdder failures = new LongAdder();

    /**
     * Writes what a caller waits for.
     *
     * @param wait how long a caller's thread is held at most, both round trips of a repeated post included
     */
    ElasticsearchPostWriter(
            PostIndex index,
            DocumentSender sender,
            Confirmations confirmations,
            AllocationRetry allocation,
            ElasticsearchSettings declared,
            Duration wait) {
        this.index = index;
        this.sender = sender;
        this.confirmations = confirmations;
        this.allocation = allocation;
        this.declared = declared;
        this.wait = wait;
    }

    @Override
    public Post write(Post post) {
        index.assertEnsured();
        return declared.ids() == Ids.AUTO ? append(post) : create(post);
    }

    /** What many clients do: a write that failed is sent once more, whatever became of the first. */
    private Post append(Post post) {
        Operation.Append append = new Operation.Append(post.id(), PostDocument.of(post, declared));
        try {
            assertDurable(await(sender.send(append), System.nanoTime() + wait.toNanos()));
        } catch (StoreUnavailableException unknown) {
            assertDurable(await(sender.send(append), System.nanoTime() + wait.toNanos()));
        }
        return append.document().toPost(post.id());
    }

    private Post create(Post post) {
        long deadlineNanos = System.nanoTime() + wait.toNanos();
        PostDocument document = PostDocument.of(post, declared);
        Reply reply = await(sender.send(new Operation.Create(post.id(), document)), deadlineNanos);
        if (reply instanceof Reply.Taken) {
            Operation.Confirm confirm = confirmations.of(List.of(post.id())).getFirst();
            return existing(post, await(sender.send(confirm), deadlineNanos));
        }
        assertDurable(reply);
        return document.toPost(post.id());
    }

    private Post existing(Post post, Reply confirmed) {
        assertDurable(confirmed);
        if (!(confirmed instanceof Reply.Written(int ignored, PostDocument stored)) || stored == null) {
            throw new StoreUnavailableException("Elasticsearch did not show the stored post");
        }
        if (!stored.content().equals(post.content())) {
            throw new PostConflictException(post.id());
        }
        return stored.toPost(post.id());
    }

    private void assertDurable(Reply reply) {
        switch (reply) {
            case Reply.Written written when written.copies() >= declared.copies() -> elasticsearch.noteAnswer();
            case Reply.Written written -> {
                failures.increment();
                throw elasticsearch.unavailable(
                        "only %d of %d declared copies have the post".formatted(written.copies(), declared.copies()));
            }
            case Reply.Unavailable unavailable -> {
                failures.increment();
                allocation.note(unavailable);
                throw elasticsearch.unavailable(unavailable.reason());
            }
            case Reply.Taken taken -> throw new StoreUnavailableException("too many writers repeat this post at once");
            case Reply.Refused refused -> throw new IllegalStateException(refused.reason());
        }
    }

    /** Posts that were not acknowledged, by cause. */
    @Override
    public void bindTo(MeterRegistry registry) {
        FunctionCounter.builder("writepath.store.timeouts", timeouts, LongAdder::sum)
                .register(registry);
        FunctionCounter.builder("writepath.store.failures", failures, LongAdder::sum)
                .register(registry);
    }

    private Reply await(CompletableFuture<Reply> reply, long deadlineNanos) {
        try {
            return reply.get(deadlineNanos - System.nanoTime(), TimeUnit.NANOSECONDS);
        } catch (TimeoutException late) {
            reply.cancel(false);
            timeouts.increment();
            throw elasticsearch.unavailable("Elasticsearch did not answer in %d ms; the post may or may not be stored"
                    .formatted(wait.toMillis()));
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            throw new StoreUnavailableException("interrupted while waiting for Elasticsearch");
        } catch (ExecutionException broken) {
            throw new IllegalStateException(broken.getCause());
        }
    }
}
