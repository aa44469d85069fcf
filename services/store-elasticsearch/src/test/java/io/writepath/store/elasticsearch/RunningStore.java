package io.writepath.store.elasticsearch;

import co.elastic.clients.json.JsonData;
import io.writepath.post.Post;
import io.writepath.post.StoreSizes;
import io.writepath.post.StoreUnavailableException;
import io.writepath.post.StoredPost;
import io.writepath.testsupport.ElasticsearchService;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.awaitility.Awaitility;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import tools.jackson.databind.JsonNode;

/** The store as an application has it, over a real Elasticsearch. */
final class RunningStore implements AutoCloseable {

    static final Duration START_MAX = Duration.ofSeconds(30);

    private final ConfigurableApplicationContext context;

    private RunningStore(ConfigurableApplicationContext context) {
        this.context = context;
    }

    /** Ready or not; with settings as {@code writepath.elasticsearch.shards=2}. */
    static RunningStore start(ElasticsearchService service, String... settings) {
        return new RunningStore(new SpringApplicationBuilder(ElasticsearchStoreAutoConfiguration.class)
                .web(WebApplicationType.NONE)
                .properties("writepath.elasticsearch.uris=" + service.uri())
                .properties(settings)
                .run());
    }

    /** Ready and empty. */
    static RunningStore startEmpty(ElasticsearchService service, String... settings) {
        RunningStore store = start(service, settings);
        Awaitility.await().atMost(START_MAX).ignoreExceptions().until(() -> {
            store.inspector().reset();
            return true;
        });
        return store;
    }

    ElasticsearchPostWriter writer() {
        return context.getBean(ElasticsearchPostWriter.class);
    }

    ElasticsearchPostBatchWriter batchWriter() {
        return context.getBean(ElasticsearchPostBatchWriter.class);
    }

    ElasticsearchPostReader reader() {
        return context.getBean(ElasticsearchPostReader.class);
    }

    ElasticsearchStoreInspector inspector() {
        return context.getBean(ElasticsearchStoreInspector.class);
    }

    ElasticsearchLoader loader() {
        return context.getBean(ElasticsearchLoader.class);
    }

    StoreSizes.Sizes sizes() {
        return context.getBean(ElasticsearchSizes.class).sizes();
    }

    /** A post as this store's writer sends it. */
    PostDocument document(Post post) {
        return PostDocument.of(post, context.getBean(ElasticsearchSettings.class));
    }

    AllocationRetry allocation() {
        return context.getBean(AllocationRetry.class);
    }

    CommitRecorder commits() {
        return context.getBean(CommitRecorder.class);
    }

    DocumentSender sender() {
        return context.getBean(DocumentSender.class);
    }

    Connection connection() {
        return context.getBean(Connection.class);
    }

    List<StoredPost> stored() {
        List<StoredPost> all = new ArrayList<>();
        inspector().forEach(all::add);
        return all;
    }

    void awaitReady() {
        Awaitility.await().atMost(START_MAX).ignoreExceptions().untilAsserted(inspector()::assertReady);
    }

    /** So that a write no longer waits until all declared copies are there. */
    void letPrimariesWriteAlone() throws IOException {
        Awaitility.await()
                .atMost(START_MAX)
                .ignoreExceptions()
                .untilAsserted(context.getBean(PostIndex.class)::assertEnsured);
        connection().background().indices().putSettings(put -> put.index(PostIndex.NAME)
                .settings(settings -> settings.otherSettings("write.wait_for_active_shards", JsonData.of(1))));
    }

    /** As a client does on 503: the same post again, until there is an answer. */
    Post writeUntilAnswered(Post post) {
        Instant giveUpAt = Instant.now().plus(START_MAX);
        while (true) {
            try {
                return writer().write(post);
            } catch (StoreUnavailableException unknown) {
                if (Instant.now().isAfter(giveUpAt)) {
                    throw unknown;
                }
            }
        }
    }

    void deleteIndex() throws IOException {
        connection().background().indices().delete(delete -> delete.index(PostIndex.NAME));
    }

    /** Its mapping takes numbers only, in place of whatever else makes Elasticsearch refuse one document of many. */
    void replaceIndexByOneForNumbers() throws IOException {
        deleteIndex();
        connection().background().indices().create(create -> create.index(PostIndex.NAME)
                .aliases(PostIndex.ALIAS, alias -> alias.isWriteIndex(true))
                .settings(settings -> settings.numberOfReplicas("0"))
                .mappings(mapping -> mapping.properties("content", content -> content.integer(number -> number))));
    }

    /**
     * Its nodes take one shard each, and there is one more.
     *
     * @return the shard that no node has
     */
    int replaceIndexByOneWithAShardMissing(int shards) throws IOException {
        deleteIndex();
        connection().background().indices().create(create -> create.index(PostIndex.NAME)
                .aliases(PostIndex.ALIAS, alias -> alias.isWriteIndex(true))
                .settings(settings -> settings.numberOfShards(Integer.toString(shards))
                        .numberOfReplicas("0")
                        .otherSettings("routing.allocation.total_shards_per_node", JsonData.of(1)))
                .waitForActiveShards(active -> active.count(0)));
        connection().background().cluster().health(health -> health.index(PostIndex.NAME)
                .waitForActiveShards(active -> active.count(shards - 1)));
        for (JsonNode shard : connection().get("/_cat/shards/" + PostIndex.NAME, Map.of("format", "json"))) {
            if (shard.path("state").asString().equals("UNASSIGNED")) {
                return Integer.parseInt(shard.path("shard").asString());
            }
        }
        throw new IllegalStateException("each shard has a node");
    }

    static Post post(String content) {
        return post(UUID.randomUUID(), content);
    }

    static Post post(UUID id, String content) {
        return new Post(id, content, Instant.ofEpochMilli(System.currentTimeMillis()));
    }

    @Override
    public void close() {
        context.close();
    }
}
