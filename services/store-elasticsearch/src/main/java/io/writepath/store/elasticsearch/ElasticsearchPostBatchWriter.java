package io.writepath.store.elasticsearch;

import co.elastic.clients.elasticsearch.ElasticsearchClient;
import co.elastic.clients.elasticsearch._types.ElasticsearchException;
import co.elastic.clients.elasticsearch._types.Time;
import co.elastic.clients.elasticsearch.core.BulkResponse;
import io.writepath.post.Post;
import io.writepath.post.PostBatchWriter;
import io.writepath.post.StoreUnavailableException;
import java.io.IOException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

/**
 * Writes a batch in one {@code _bulk}, and confirms those of its ids that were there already in a second one.
 * Elasticsearch takes the operations on one id in their order, so that of an id repeated within the batch the first
 * post stays.
 */
final class ElasticsearchPostBatchWriter implements PostBatchWriter {

    private final PostIndex index;
    private final ElasticsearchClient client;
    private final Time copiesWait;
    private final CommitRecorder commits;
    private final Confirmations confirmations;
    private final AllocationRetry allocation;
    private final ElasticsearchSettings declared;

    ElasticsearchPostBatchWriter(
            PostIndex index,
            ElasticsearchClient client,
            Time copiesWait,
            CommitRecorder commits,
            Confirmations confirmations,
            AllocationRetry allocation,
            ElasticsearchSettings declared) {
        this.confirmations = confirmations;
        this.allocation = allocation;
        this.index = index;
        this.client = client;
        this.copiesWait = copiesWait;
        this.commits = commits;
        this.declared = declared;
    }

    @Override
    public List<Outcome> write(List<Post> posts) {
        index.assertEnsured();
        List<Operation.Create> creates = posts.stream()
                .map(post -> new Operation.Create(post.id(), PostDocument.of(post, declared)))
                .toList();
        List<Reply> replies = bulk(creates);
        List<Integer> taken = IntStream.range(0, posts.size())
                .filter(i -> replies.get(i) instanceof Reply.Taken)
                .boxed()
                .toList();
        List<Outcome> outcomes = new ArrayList<>(replies.stream()
                .map(reply -> reply instanceof Reply.Refused ? Outcome.REJECTED : Outcome.STORED)
                .toList());
        if (!taken.isEmpty()) {
            List<Reply> confirmed = bulk(
                    confirmations.of(taken.stream().map(i -> posts.get(i).id()).toList()));
            for (int i = 0; i < taken.size(); i++) {
                outcomes.set(taken.get(i), compare(posts.get(taken.get(i)), confirmed.get(i)));
            }
        }
        return outcomes;
    }

    private static Outcome compare(Post post, Reply confirmed) {
        if (!(confirmed instanceof Reply.Written(int ignored, PostDocument stored)) || stored == null) {
            throw new StoreUnavailableException("Elasticsearch did not show a stored post");
        }
        return stored.content().equals(post.content()) ? Outcome.ALREADY_STORED : Outcome.CONFLICTING;
    }

    private List<Reply> bulk(List<? extends Operation> operations) {
        List<Reply> replies = send(operations).items().stream().map(Reply::of).toList();
        Instant arrivedAt = Instant.now();
        for (int i = 0; i < replies.size(); i++) {
            commits.record(operations.get(i), replies.get(i), arrivedAt);
        }
        replies.forEach(this::assertSettled);
        return replies;
    }

    private BulkResponse send(List<? extends Operation> operations) {
        try {
            return client.bulk(Requests.bulk(operations, copiesWait));
        } catch (IOException | ElasticsearchException failure) {
            throw Failures.unavailable(failure);
        }
    }

    /** One document that has to wait makes the batch wait: writing the others again does no harm. */
    private void assertSettled(Reply reply) {
        if (reply instanceof Reply.Unavailable unavailable) {
            allocation.note(unavailable);
            throw new StoreUnavailableException(unavailable.reason());
        }
        if (reply instanceof Reply.Written written && written.copies() < declared.copies()) {
            throw new StoreUnavailableException(
                    "only %d of %d declared copies have a post".formatted(written.copies(), declared.copies()));
        }
    }
}
