package io.writepath.store.elasticsearch;

import io.writepath.post.StoreInspector;
import io.writepath.post.StoreSizes;
import java.io.IOException;
import java.util.Map;
import java.util.TreeMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.MissingNode;

/** The primaries' files, and what of them each field takes: everything stored for it, indexed or to sort by. */
final class ElasticsearchSizes implements StoreSizes {

    private static final Logger log = LoggerFactory.getLogger(ElasticsearchSizes.class);
    private static final String TOTAL = "total_in_bytes";
    private static final Map<String, String> EXPENSIVE = Map.of("run_expensive_tasks", "true");

    private final Connection connection;
    private final StoreInspector inspector;
    private final SearchIndex index;

    ElasticsearchSizes(Connection connection, StoreInspector inspector, SearchIndex index) {
        this.connection = connection;
        this.inspector = inspector;
        this.index = index;
    }

    @Override
    public Sizes sizes() {
        long documents = inspector.count();
        try {
            connection.post("/%s/_flush".formatted(PostIndex.NAME), Map.of()); // else part of it is in memory only
            JsonNode usage = usage();
            JsonNode counted = usage.path("store_size_in_bytes");
            return sizes(documents, counted.isNumber() ? counted.asLong() : stored(), usage.path("fields"));
        } catch (IOException failure) {
            throw Failures.unavailable(failure);
        }
    }

    private Sizes sizes(long documents, long store, JsonNode fields) {
        Map<String, Long> parts = new TreeMap<>();
        fields.propertyStream()
                .forEach(field ->
                        parts.put(field.getKey(), field.getValue().path(TOTAL).asLong()));
        JsonNode searched = fields.path(index.field()).path("inverted_index").path(TOTAL);
        return new Sizes(documents, store, searched.isNumber() ? searched.asLong() : null, parts);
    }

    /** Reads the whole index; nothing where the server does not answer that question. */
    private JsonNode usage() {
        try {
            return connection
                    .post("/%s/_disk_usage".formatted(PostIndex.NAME), EXPENSIVE)
                    .path(PostIndex.NAME);
        } catch (IOException unanswered) {
            log.info("Elasticsearch does not say what each field takes: {}", Failures.reason(unanswered));
            return MissingNode.getInstance();
        }
    }

    /** What the server last looked up, up to ten seconds ago. */
    private long stored() throws IOException {
        return connection
                .get("/%s/_stats/store".formatted(PostIndex.NAME), Map.of())
                .at("/_all/primaries/store/size_in_bytes")
                .asLong();
    }
}
