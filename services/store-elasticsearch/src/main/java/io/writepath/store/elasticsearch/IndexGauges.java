package io.writepath.store.elasticsearch;

import io.writepath.post.Gauges;
import io.writepath.post.StoreUnavailableException;
import java.io.IOException;
import java.util.HashMap;
import java.util.Map;
import tools.jackson.databind.JsonNode;

/**
 * What Elasticsearch's nodes say of themselves, added up: their write threads, the merges and refreshes beside the
 * writes, and how long they stood still for their garbage collectors.
 */
final class IndexGauges implements Gauges {

    private static final String STATS = "/_nodes/stats/thread_pool,jvm,indices/merge,refresh";
    private static final Map<String, String> WANTED = Map.of(
            "filter_path",
            "nodes.*.thread_pool.write,nodes.*.jvm.uptime_in_millis,nodes.*.jvm.gc.collectors,"
                    + "nodes.*.indices.merges,nodes.*.indices.refresh");

    private final Connection connection;

    IndexGauges(Connection connection) {
        this.connection = connection;
    }

    @Override
    public Map<String, Double> read() {
        Map<String, Double> gauges = new HashMap<>();
        try {
            connection.getSoon(STATS, WANTED).path("nodes").forEach(node -> addNode(node, gauges));
        } catch (IOException failure) {
            throw new StoreUnavailableException("Elasticsearch does not answer", failure);
        }
        return gauges;
    }

    private static void addNode(JsonNode node, Map<String, Double> gauges) {
        JsonNode writes = node.path("thread_pool").path("write");
        add(gauges, "index_write_threads", writes.path("threads").asDouble());
        add(gauges, "index_write_active", writes.path("active").asDouble());
        add(gauges, "index_write_queue", writes.path("queue").asDouble());
        add(gauges, "index_write_rejected", writes.path("rejected").asDouble());
        JsonNode indices = node.path("indices");
        add(gauges, "index_merges", indices.path("merges").path("current").asDouble());
        add(gauges, "index_merge_seconds", seconds(indices.path("merges"), "total_time_in_millis"));
        add(gauges, "index_refresh_seconds", seconds(indices.path("refresh"), "total_time_in_millis"));
        JsonNode jvm = node.path("jvm");
        add(gauges, "index_seconds", seconds(jvm, "uptime_in_millis"));
        jvm.path("gc")
                .path("collectors")
                .forEach(collector -> add(gauges, "index_gc_seconds", seconds(collector, "collection_time_in_millis")));
    }

    private static double seconds(JsonNode of, String field) {
        return of.path(field).asDouble() / 1000;
    }

    private static void add(Map<String, Double> gauges, String name, double value) {
        gauges.merge(name, value, Double::sum);
    }
}
