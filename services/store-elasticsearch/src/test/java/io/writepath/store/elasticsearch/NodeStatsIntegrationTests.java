package io.writepath.store.elasticsearch;

import static io.writepath.store.elasticsearch.RunningStore.post;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.writepath.post.Post;
import io.writepath.post.SampledFigures.Figure;
import io.writepath.post.StoreUnavailableException;
import io.writepath.testsupport.BackingServices;
import io.writepath.testsupport.ElasticsearchService;
import io.writepath.testsupport.Metrics;
import io.writepath.testsupport.TcpProxy;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

class NodeStatsIntegrationTests {

    private static final Duration SETTLED = Duration.ofSeconds(20);

    private final ElasticsearchService service = BackingServices.elasticsearch();

    @Test
    void theNodesSayWhatTheirWriteThreadsMergesAndCollectorsDo() {
        try (RunningStore store = RunningStore.startEmpty(service)) {
            NodeStats stats = new NodeStats(store.connection());
            List<Post> posts =
                    IntStream.range(0, 1_000).mapToObj(i -> post("post " + i)).toList();
            store.batchWriter().write(posts);
            store.inspector().count();

            Map<String, Double> read = Awaitility.await()
                    .atMost(SETTLED)
                    .ignoreExceptions()
                    .until(() -> byName(stats.sample()), figures -> !figures.isEmpty());
            assertThat(read)
                    .containsKeys("index.write.active", "index.write.queue", "index.merges", "index.merge.seconds")
                    .containsEntry("index.write.rejected", 0.0)
                    .containsKey("index.refresh.seconds");
            assertThat(read.get("index.write.threads")).isGreaterThanOrEqualTo(1);
            assertThat(read.get("index.gc.seconds")).isLessThan(read.get("index.seconds"));
            assertThat(read.get("index.seconds")).isPositive();
        }
    }

    @Test
    void aClusterThatDoesNotAnswerIsAFailureAndNoZero() {
        try (TcpProxy proxy = TcpProxy.to(service.host(), service.port());
                RunningStore store = RunningStore.startEmpty(service.through(proxy))) {
            NodeStats stats = new NodeStats(store.connection());
            proxy.freeze();
            assertThatExceptionOfType(StoreUnavailableException.class).isThrownBy(stats::sample);
            proxy.cut();
            assertThatExceptionOfType(StoreUnavailableException.class).isThrownBy(stats::sample);
            proxy.heal();
            Awaitility.await().atMost(SETTLED).ignoreExceptions().until(() -> !stats.sample()
                    .isEmpty());
        }
    }

    @Test
    void aWriterSaysHowManyBulksMayBeUnderWayAndCountsWhatItDoesNotAcknowledge() {
        try (TcpProxy proxy = TcpProxy.to(service.host(), service.port());
                RunningStore store = RunningStore.startEmpty(service.through(proxy))) {
            assertThat(Metrics.of(store.sender())).containsEntry("bulks_in_flight_max", 2.0);
            assertThat(Metrics.of(store.writer()))
                    .containsEntry("store_failures", 0.0)
                    .containsEntry("store_timeouts", 0.0);
            proxy.freeze();
            assertThatThrownBy(() -> store.writer().write(post("frozen")))
                    .isInstanceOf(StoreUnavailableException.class);
            assertThat(Metrics.of(store.writer())).containsEntry("store_timeouts", 1.0);
            proxy.cut();
            Awaitility.await().atMost(SETTLED).untilAsserted(() -> {
                assertThatThrownBy(() -> store.writer().write(post("cut")))
                        .isInstanceOf(StoreUnavailableException.class);
                assertThat(Metrics.of(store.writer()).get("store_failures")).isPositive();
            });
        }
    }

    private static Map<String, Double> byName(List<Figure> figures) {
        return figures.stream().collect(Collectors.toMap(Figure::name, Figure::value));
    }
}
