package io.writepath.store.elasticsearch;

import co.elastic.clients.elasticsearch.ElasticsearchClient;
import co.elastic.clients.elasticsearch._types.ElasticsearchException;
import co.elastic.clients.elasticsearch._types.HealthStatus;
import co.elastic.clients.elasticsearch._types.Time;
import co.elastic.clients.elasticsearch.core.bulk.BulkResponseItem;
import io.writepath.post.LoadRefusedException;
import io.writepath.post.Post;
import io.writepath.post.PostLoader;
import io.writepath.post.StoreUnavailableException;
import java.io.IOException;
import java.time.Duration;
import java.util.List;

/**
 * Fills the index in bulks, with no refresh and no replica meanwhile: a replica is copied once, when all is there.
 * Segments are left as they come: hardly anybody's index in use is a single one.
 */
final class ElasticsearchLoader implements PostLoader {

    private static final int BULK_DOCUMENTS = 1_000; // 16 MB of the longest texts; Elasticsearch takes 100 MB a request
    private static final Time BULK_WAIT = Time.of(time -> time.time("20s"));
    private static final Duration COPYING_MAX = Duration.ofMinutes(30);
    private static final Duration PAUSE = Duration.ofMillis(100);
    private static final double NANOS_A_SECOND = 1e9;

    private final ElasticsearchClient client;
    private final PostIndex index;
    private final ElasticsearchSettings declared;

    ElasticsearchLoader(ElasticsearchClient client, PostIndex index, ElasticsearchSettings declared) {
        this.client = client;
        this.index = index;
        this.declared = declared;
    }

    @Override
    public void begin() {
        index.assertEnsured();
        try {
            index.bare();
        } catch (IOException | ElasticsearchException failure) {
            throw Failures.unavailable(failure);
        }
    }

    @Override
    public void load(List<Post> posts) {
        index.assertEnsured();
        for (int start = 0; start < posts.size(); start += BULK_DOCUMENTS) {
            List<Post> batch = posts.subList(start, Math.min(start + BULK_DOCUMENTS, posts.size()));
            List<BulkResponseItem> items = create(batch);
            for (int i = 0; i < batch.size(); i++) {
                assertLoaded(batch.get(i), Reply.of(items.get(i)));
            }
        }
    }

    private List<BulkResponseItem> create(List<Post> batch) {
        List<Operation.Create> creates = batch.stream()
                .map(post -> new Operation.Create(post.id(), PostDocument.of(post, declared)))
                .toList();
        try {
            return client.bulk(Requests.bulk(creates, BULK_WAIT)).items();
        } catch (IOException | ElasticsearchException failure) {
            throw Failures.unavailable(failure);
        }
    }

    private static void assertLoaded(Post post, Reply reply) {
        switch (reply) {
            case Reply.Written written -> {}
            case Reply.Taken taken -> throw new LoadRefusedException("Elasticsearch has post " + post.id(), null);
            case Reply.Refused refused ->
                throw new LoadRefusedException("post %s: %s".formatted(post.id(), refused.reason()), null);
            case Reply.Unavailable unavailable -> throw new StoreUnavailableException(unavailable.reason());
        }
    }

    @Override
    public Finished finish() {
        index.assertEnsured();
        long start = System.nanoTime();
        try {
            index.asDeclared();
            awaitCopies(start + COPYING_MAX.toNanos());
            client.indices().refresh(refresh -> refresh.index(PostIndex.ALIAS));
        } catch (IOException | ElasticsearchException failure) {
            throw Failures.unavailable(failure);
        }
        return new Finished(null, (System.nanoTime() - start) / NANOS_A_SECOND);
    }

    private void awaitCopies(long deadlineNanos) {
        while (index.health().status() != HealthStatus.Green) {
            if (System.nanoTime() - deadlineNanos > 0) {
                throw new StoreUnavailableException(
                        "the replicas are not copied after %d minutes".formatted(COPYING_MAX.toMinutes()));
            }
            try {
                Thread.sleep(PAUSE);
            } catch (InterruptedException interrupted) {
                Thread.currentThread().interrupt();
                throw new StoreUnavailableException("interrupted while the replicas are copied", interrupted);
            }
        }
    }
}
