package io.writepath.store.elasticsearch;

import static io.writepath.store.elasticsearch.RunningStore.post;
import static org.assertj.core.api.Assertions.assertThat;

import io.writepath.post.Post;
import io.writepath.testsupport.BackingServices;
import io.writepath.testsupport.ElasticsearchService;
import io.writepath.testsupport.Metrics;
import java.io.IOException;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

/** Which documents share a bulk, and how long they wait for it. */
class BulkSenderIntegrationTests {

    private static final Duration PATIENCE = Duration.ofSeconds(5);
    private static final Duration LINGER = Duration.ofMillis(500);
    private static final int POSTS = 50;

    private final ElasticsearchService service = BackingServices.elasticsearch();

    /** With a bulk free for each post, only the linger makes one wait for another. */
    @ParameterizedTest
    @CsvSource({"0, 50, 50", "500, 1, 20"})
    void severalPostsShareABulkWhereTheyMayWait(int lingerMs, double atLeast, double atMost) {
        try (RunningStore store = lingering(lingerMs, "writepath.elasticsearch.bulks-in-flight=64")) {
            List<CompletableFuture<Reply>> replies =
                    sendAll(store, Stream.generate(() -> post("one of several")).limit(POSTS));

            awaitAll(replies);
            assertThat(replies).allMatch(reply -> reply.join() instanceof Reply.Written);
            assertThat(Metrics.of(store.sender()).get("bulks_sent")).isBetween(atLeast, atMost);
        }
    }

    @Test
    void aPostWaitsForOthersOnlyWhereSeveralAreUnderWayAndNoLongerThanTheLinger() {
        try (RunningStore store = lingering((int) LINGER.toMillis())) {
            assertThat(timeOf(store, 1)).as("alone").isLessThan(LINGER);
            assertThat(timeOf(store, POSTS)).as("with others").isBetween(LINGER, LINGER.multipliedBy(3));
            assertThat(timeOf(store, 1)).as("alone again").isLessThan(LINGER);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 8})
    void aLaneIsTheShardThatElasticsearchTakesThePostTo(int shards) throws IOException {
        try (RunningStore store = RunningStore.startEmpty(service, "writepath.elasticsearch.shards=" + shards)) {
            ShardRouting routing = new ShardRouting(shards);
            for (int i = 0; i < POSTS; i++) {
                UUID id = UUID.randomUUID();
                JsonNode found = store.connection()
                        .get("/posts/_search_shards", Map.of("routing", id.toString()))
                        .path("shards");
                assertThat(found).hasSize(1);
                assertThat(found.path(0).path(0).path("shard").asInt()).isEqualTo(routing.shardOf(id));
            }
        }
    }

    @Test
    void aShardThatIsGoneDelaysNoPostOfAnother() throws IOException {
        int shards = service.nodes() + 1;
        try (RunningStore store = RunningStore.startEmpty(service, "writepath.elasticsearch.shards=" + shards)) {
            int missing = store.replaceIndexByOneWithAShardMissing(shards);
            List<CompletableFuture<Reply>> gone = sendAll(store, postsOf(missing, shards));
            List<CompletableFuture<Reply>> others = sendAll(store, postsOf((missing + 1) % shards, shards));

            awaitAll(others);
            assertThat(gone).noneMatch(CompletableFuture::isDone);
            assertThat(others).allMatch(reply -> reply.join() instanceof Reply.Written);
            awaitAll(gone);
            assertThat(gone).allMatch(reply -> reply.join() instanceof Reply.Unavailable);
        }
    }

    private RunningStore lingering(int lingerMs, String... settings) {
        List<String> all = Stream.concat(
                        Stream.of("writepath.elasticsearch.linger-ms=" + lingerMs), Stream.of(settings))
                .toList();
        return RunningStore.startEmpty(service, all.toArray(String[]::new));
    }

    private static Stream<Post> postsOf(int shard, int shards) {
        ShardRouting routing = new ShardRouting(shards);
        return Stream.generate(() -> post("of one shard"))
                .filter(post -> routing.shardOf(post.id()) == shard)
                .limit(POSTS);
    }

    /** Until all of so many posts that are sent at once are written. */
    private static Duration timeOf(RunningStore store, int posts) {
        long start = System.nanoTime();
        List<CompletableFuture<Reply>> replies =
                sendAll(store, Stream.generate(() -> post("timed")).limit(posts));
        replies.forEach(CompletableFuture::join);
        return Duration.ofNanos(System.nanoTime() - start);
    }

    private static List<CompletableFuture<Reply>> sendAll(RunningStore store, Stream<Post> posts) {
        return posts.map(post -> store.sender().send(new Operation.Create(post.id(), store.document(post))))
                .toList();
    }

    private static void awaitAll(Collection<CompletableFuture<Reply>> replies) {
        Awaitility.await().atMost(PATIENCE).until(() -> replies.stream().allMatch(CompletableFuture::isDone));
    }
}
