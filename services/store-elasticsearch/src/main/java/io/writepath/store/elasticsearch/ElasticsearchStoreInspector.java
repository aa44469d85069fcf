package io.writepath.store.elasticsearch;

import co.elastic.clients.elasticsearch.ElasticsearchClient;
import co.elastic.clients.elasticsearch._types.ElasticsearchException;
import co.elastic.clients.elasticsearch._types.query_dsl.Query;
import co.elastic.clients.elasticsearch.cluster.HealthResponse;
import co.elastic.clients.elasticsearch.core.SearchResponse;
import co.elastic.clients.elasticsearch.core.search.Hit;
import co.elastic.clients.transport.Version;
import io.writepath.post.Durability;
import io.writepath.post.StoreInspector;
import io.writepath.post.StoreUnavailableException;
import io.writepath.post.StoredPost;
import io.writepath.post.VersionSource;
import java.io.IOException;
import java.util.Collection;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import tools.jackson.databind.JsonNode;

/** Asks Elasticsearch itself, past everything this process remembers or was told. */
final class ElasticsearchStoreInspector implements StoreInspector, VersionSource {

    private static final Query EVERYTHING = Query.of(any -> any.matchAll(all -> all));

    private final Connection connection;
    private final ElasticsearchClient client;
    private final DocumentStream documents;
    private final PostIndex index;
    private final ElasticsearchSettings declared;

    ElasticsearchStoreInspector(Connection connection, PostIndex index, ElasticsearchSettings declared) {
        this.connection = connection;
        this.client = connection.background();
        this.documents = new DocumentStream(client);
        this.index = index;
        this.declared = declared;
    }

    @Override
    public void assertReady() {
        index.assertAssigned();
    }

    @Override
    public long count() {
        try {
            refresh();
            var counted = client.count(count -> count.index(PostIndex.ALIAS));
            if (counted.shards().failed().intValue() > 0) {
                throw new StoreUnavailableException("Elasticsearch could not count in every shard");
            }
            return counted.count();
        } catch (IOException | ElasticsearchException failure) {
            throw Failures.unavailable(failure);
        }
    }

    @Override
    public void reset() {
        index.recreate();
    }

    @Override
    public void forEach(Consumer<StoredPost> consumer) {
        try {
            refresh();
            documents.forEach(Sought.anywhere(EVERYTHING), hit -> consumer.accept(toStoredPost(hit)));
        } catch (IOException | ElasticsearchException failure) {
            throw Failures.unavailable(failure);
        }
    }

    /** Through {@code _search}, which sees what a refresh has shown; a GET by id would see, and even refresh, more. */
    @Override
    public Set<UUID> visible(Collection<UUID> ids) {
        try {
            SearchResponse<PostDocument> found =
                    client.search(Requests.visible(ids, declared.ids()), PostDocument.class);
            return found.hits().hits().stream().map(PostDocument::idOf).collect(Collectors.toSet());
        } catch (IOException | ElasticsearchException failure) {
            throw Failures.unavailable(failure);
        }
    }

    private static StoredPost toStoredPost(Hit<PostDocument> hit) {
        return new StoredPost(PostDocument.idOf(hit), PostDocument.of(hit).content(), null);
    }

    /**
     * Level A needs the flush before each answer, and every declared copy on its own node now, of the declared index:
     * somebody may have changed its number of replicas since.
     */
    @Override
    public Durability durability() {
        Map<String, String> settings = new TreeMap<>(index.settings());
        HealthResponse health = index.health();
        settings.put("search_index", index.searchIndex().spelled());
        settings.put("declared_copies", Integer.toString(declared.copies()));
        settings.put("assigned_copies", Integer.toString(health.activeShards()));
        settings.put("data_nodes", Integer.toString(health.numberOfDataNodes()));
        boolean flushed = "request".equalsIgnoreCase(settings.get(PostIndex.TRANSLOG_DURABILITY));
        boolean copied = Integer.toString(declared.replicas()).equals(settings.get(PostIndex.REPLICAS))
                && Integer.toString(declared.shards()).equals(settings.get(PostIndex.SHARDS))
                && health.activeShards() >= declared.shards() * declared.copies();
        if (flushed && copied) {
            return new Durability(Durability.Level.A, settings);
        }
        settings.put(Durability.LOWERED_BY, flushed ? "assigned_copies" : PostIndex.TRANSLOG_DURABILITY);
        return new Durability(Durability.Level.B, settings);
    }

    @Override
    public Map<String, String> versions() {
        Map<String, String> versions = new TreeMap<>();
        versions.put("elasticsearch-java", String.valueOf(Version.VERSION));
        try {
            JsonNode nodes = connection
                    .get("/_nodes", Map.of("filter_path", "nodes.*.version"))
                    .path("nodes");
            nodes.forEach(
                    node -> versions.put("elasticsearch", node.path("version").asString()));
        } catch (IOException failure) {
            throw Failures.unavailable(failure);
        }
        return versions;
    }

    private void refresh() throws IOException {
        var shards = client.indices()
                .refresh(refresh -> refresh.index(PostIndex.ALIAS))
                .shards();
        if (shards == null || shards.failed().intValue() > 0) {
            throw new StoreUnavailableException("Elasticsearch could not refresh every shard");
        }
    }
}
