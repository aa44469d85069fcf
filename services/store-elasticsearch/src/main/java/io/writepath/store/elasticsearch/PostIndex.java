package io.writepath.store.elasticsearch;

import co.elastic.clients.elasticsearch.ElasticsearchClient;
import co.elastic.clients.elasticsearch._types.ElasticsearchException;
import co.elastic.clients.elasticsearch._types.HealthStatus;
import co.elastic.clients.elasticsearch._types.mapping.TypeMapping;
import co.elastic.clients.elasticsearch.cluster.HealthResponse;
import co.elastic.clients.elasticsearch.indices.IndexSettings;
import co.elastic.clients.json.JsonData;
import io.writepath.post.StoreUnavailableException;
import io.writepath.store.elasticsearch.ElasticsearchSettings.Ids;
import java.io.IOException;
import java.io.InputStream;
import java.util.Map;
import java.util.TreeMap;
import tools.jackson.databind.JsonNode;

/** The one index of posts: made explicitly, with every setting that decides what an acknowledgement promises. */
final class PostIndex {

    /** Reads and writes go through the alias, so that they can never create an index. */
    static final String ALIAS = "posts";

    static final String NAME = "posts-1";
    static final String POST_ID = "postId";
    static final String SHARDS = "index.number_of_shards";
    static final String REPLICAS = "index.number_of_replicas";
    static final String REFRESH_INTERVAL = "index.refresh_interval";
    static final String TRANSLOG_DURABILITY = "index.translog.durability";
    static final String ACTIVE_COPIES = "index.write.wait_for_active_shards";

    private static final String ACTIVE_COPIES_SETTING = "write.wait_for_active_shards";
    private static final String NEVER = "-1";
    private static final String EXISTS = "resource_already_exists_exception";
    private static final String ASSIGNED_WAIT = "10s";

    private final Connection connection;
    private final ElasticsearchClient client;
    private final ElasticsearchSettings declared;
    private volatile boolean ensured;

    PostIndex(Connection connection, ElasticsearchSettings declared) {
        this.connection = connection;
        this.client = connection.background();
        this.declared = declared;
    }

    /** Creates the index unless it is there; several processes may do so at once. */
    void ensure() throws IOException {
        try {
            create();
        } catch (ElasticsearchException answered) {
            if (!EXISTS.equals(answered.error().type())) {
                throw answered;
            }
            asDeclared();
        }
        ensured = true;
    }

    /** As ensure, unless it was done meanwhile, as by a reset: an index deleted after that stays deleted. */
    void ensureOnce() throws IOException {
        if (!ensured) {
            ensure();
        }
    }

    /** Before that, an index left from earlier may still promise less than is declared now. */
    void assertEnsured() {
        if (!ensured) {
            throw new StoreUnavailableException("the index is not set up yet in Elasticsearch");
        }
    }

    /**
     * Deletes and creates: there is no {@code _delete_by_query} in every distribution, and deleted documents linger.
     */
    void recreate() {
        try {
            client.indices().delete(delete -> delete.index(NAME).ignoreUnavailable(true));
            ensure();
            client.cluster().health(health -> health.index(NAME)
                    .waitForActiveShards(active -> active.count(declared.shards() * declared.copies()))
                    .timeout(limit -> limit.time(ASSIGNED_WAIT)));
        } catch (IOException | ElasticsearchException failure) {
            throw Failures.unavailable(failure);
        }
        assertAssigned();
    }

    /** Fails, in words, unless the index is the declared one and each shard has all of its copies. */
    void assertAssigned() {
        assertEnsured();
        String shards = settings().get(SHARDS);
        if (!Integer.toString(declared.shards()).equals(shards)) {
            throw new StoreUnavailableException(
                    "the index has %s shards, but ELASTICSEARCH_SHARDS is %d; POST /inspector/reset makes it anew"
                            .formatted(shards, declared.shards()));
        }
        SearchIndex found = searchIndex();
        if (found != declared.searchIndex()) {
            throw new StoreUnavailableException(
                    "the index holds %s, but ELASTICSEARCH_SEARCH_INDEX is %s; POST /inspector/reset makes it anew"
                            .formatted(found.spelled(), declared.searchIndex().spelled()));
        }
        HealthResponse health = health();
        if (health.numberOfDataNodes() < declared.copies()) {
            throw new StoreUnavailableException("%d copies need as many Elasticsearch nodes, and there are %d"
                    .formatted(declared.copies(), health.numberOfDataNodes()));
        }
        int wanted = declared.shards() * declared.copies();
        if (health.status() == HealthStatus.Red || health.activeShards() < wanted) {
            throw new StoreUnavailableException(
                    "%d of %d copies of shards are assigned".formatted(health.activeShards(), wanted));
        }
    }

    /** The live index's settings under Elasticsearch's own names, defaults included. */
    Map<String, String> settings() {
        try {
            JsonNode index = connection
                    .get("/" + NAME + "/_settings", Map.of("flat_settings", "true", "include_defaults", "true"))
                    .path(NAME);
            Map<String, String> settings = new TreeMap<>();
            for (String name : new String[] {SHARDS, REPLICAS, REFRESH_INTERVAL, TRANSLOG_DURABILITY, ACTIVE_COPIES}) {
                JsonNode value = index.path("settings").path(name);
                settings.put(
                        name, (value.isMissingNode() ? index.path("defaults").path(name) : value).asString());
            }
            return settings;
        } catch (IOException failure) {
            throw Failures.unavailable(failure);
        }
    }

    /** What the live index is made for, as its mapping has it. */
    SearchIndex searchIndex() {
        try {
            JsonNode fields = connection
                    .get("/" + NAME + "/_mapping", Map.of())
                    .path(NAME)
                    .path("mappings")
                    .path("properties");
            return fields.has(SearchIndex.BIGRAMS.field()) ? SearchIndex.BIGRAMS : SearchIndex.WORDS;
        } catch (IOException failure) {
            throw Failures.unavailable(failure);
        }
    }

    /**
     * Without what slows a load down: refreshes, and copies beside the primary, for which writes must first not wait.
     */
    void bare() throws IOException {
        client.indices().putSettings(put -> put.index(NAME)
                .settings(settings -> settings.otherSettings(ACTIVE_COPIES_SETTING, JsonData.of(1))));
        client.indices().putSettings(put -> put.index(NAME)
                .settings(settings -> settings.refreshInterval(interval -> interval.time(NEVER))
                        .numberOfReplicas("0")));
    }

    /** As it is declared, whatever it was set to in between. */
    void asDeclared() throws IOException {
        client.indices().putSettings(put -> put.index(NAME).settings(adjustable(new IndexSettings.Builder())));
    }

    HealthResponse health() {
        try {
            return client.cluster().health(health -> health.index(NAME).timeout(limit -> limit.time("1s")));
        } catch (IOException | ElasticsearchException failure) {
            throw Failures.unavailable(failure);
        }
    }

    private void create() throws IOException {
        try (InputStream mapping =
                PostIndex.class.getResourceAsStream(declared.searchIndex().mapping())) {
            client.indices().create(create -> create.index(NAME)
                    .aliases(ALIAS, alias -> alias.isWriteIndex(true))
                    .settings(
                            adjustable(new IndexSettings.Builder().numberOfShards(Integer.toString(declared.shards()))))
                    .mappings(mappings -> mappings(mappings.withJson(mapping)))
                    .waitForActiveShards(active -> active.count(0)));
        }
    }

    private TypeMapping.Builder mappings(TypeMapping.Builder mappings) {
        return declared.ids() == Ids.AUTO
                ? mappings.properties(POST_ID, property -> property.keyword(keyword -> keyword))
                : mappings;
    }

    private IndexSettings adjustable(IndexSettings.Builder settings) {
        return settings.numberOfReplicas(Integer.toString(declared.replicas()))
                .refreshInterval(interval -> interval.time(declared.refreshInterval()))
                .translog(translog -> translog.durability(declared.translogDurability()))
                .otherSettings(ACTIVE_COPIES_SETTING, JsonData.of(declared.copies()))
                .build();
    }
}
