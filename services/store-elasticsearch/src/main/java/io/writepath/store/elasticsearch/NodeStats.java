package io.writepath.store.elasticsearch;

import io.writepath.post.SampledFigures;
import io.writepath.post.StoreUnavailableException;
import java.io.IOException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import tools.jackson.databind.JsonNode;

/**
 * What Elasticsearch's nodes say of themselves, added up: their write threads, the merges and refreshes beside the
 * writes, and how long they stood still for their garbage collectors.
 */
final class NodeStats implements SampledFigures {

    private static final String STATS = "/_nodes/stats/thread_pool,jvm,indices/merge,refresh";
    private static final Map<String, String> WANTED = Map.of(
            "filter_path",
            "nodes.*.thread_pool.write,nodes.*.jvm.uptime_in_millis,nodes.*.jvm.gc.collectors,"
                    + "nodes.*.indices.merges,nodes.*.indices.refresh");

    private final Connection connection;

    NodeStats(Connection connection) {
        this.connection = connection;
    }

    @Override
    public List<Figure> sample() {
        Map<String, Double> sums = new HashMap<>();
        try {
            connection.getSoon(STATS, WANTED).path("nodes").forEach(node -> addNode(node, sums));
        } catch (IOException failure) {
            throw new StoreUnavailableException("Elasticsearch does not answer", failure);
        }
        return sums.entrySet().stream()
                .map(sum -> new Figure(sum.getKey(), sum.getValue()))
                .toList();
    }

    private static void addNode(JsonNode node, Map<String, Double> sums) {
        JsonNode writes = node.path("thread_pool").path("write");
        add(sums, "index.write.threads", writes.path("threads").asDouble());
        add(sums, "index.write.active", writes.path("active").asDouble());
        add(sums, "index.write.queue", writes.path("queue").asDouble());
        add(sums, "index.write.rejected", writes.path("rejected").asDouble());
        JsonNode indices = node.path("indices");
        add(sums, "index.merges", indices.path("merges").path("current").asDouble());
        add(sums, "index.merge.seconds", seconds(indices.path("merges"), "total_time_in_millis"));
        add(sums, "index.refresh.seconds", seconds(indices.path("refresh"), "total_time_in_millis"));
        JsonNode jvm = node.path("jvm");
        add(sums, "index.seconds", seconds(jvm, "uptime_in_millis"));
        jvm.path("gc")
                .path("collectors")
                .forEach(collector -> add(sums, "index.gc.seconds", seconds(collector, "collection_time_in_millis")));
    }

    private static double seconds(JsonNode of, String field) {
        return of.path(field).asDouble() / 1000;
    }

    private static void add(Map<String, Double> sums, String name, double value) {
        sums.merge(name, value, Double::sum);
    }
}
