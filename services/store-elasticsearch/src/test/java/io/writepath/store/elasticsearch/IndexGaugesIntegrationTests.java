package io.writepath.store.elasticsearch;

import static io.writepath.store.elasticsearch.RunningStore.post;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.writepath.post.BoundedGauges;
import io.writepath.post.Post;
import io.writepath.post.StoreUnavailableException;
import io.writepath.testsupport.BackingServices;
import io.writepath.testsupport.ElasticsearchService;
import io.writepath.testsupport.TcpProxy;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

class IndexGaugesIntegrationTests {

    private static final Duration SETTLED = Duration.ofSeconds(20);

    private final ElasticsearchService service = BackingServices.elasticsearch();

    @Test
    void theNodesSayWhatTheirWriteThreadsMergesAndCollectorsDo() {
        try (RunningStore store = RunningStore.startEmpty(service)) {
            IndexGauges gauges = new IndexGauges(store.connection());
            List<Post> posts =
                    IntStream.range(0, 1_000).mapToObj(i -> post("post " + i)).toList();
            store.batchWriter().write(posts);
            store.inspector().count();

            Map<String, Double> read = Awaitility.await()
                    .atMost(SETTLED)
                    .ignoreExceptions()
                    .until(gauges::read, figures -> !figures.isEmpty());
            assertThat(read)
                    .containsKeys("index_write_active", "index_write_queue", "index_merges", "index_merge_seconds")
                    .containsEntry("index_write_rejected", 0.0)
                    .containsKey("index_refresh_seconds");
            assertThat(read.get("index_write_threads")).isGreaterThanOrEqualTo(1);
            assertThat(read.get("index_gc_seconds")).isLessThan(read.get("index_seconds"));
            assertThat(read.get("index_seconds")).isPositive();
        }
    }

    @Test
    void aClusterThatIsGoneIsAFailureAndAFrozenOneHoldsNobodyUp() {
        try (TcpProxy proxy = TcpProxy.to(service.host(), service.port());
                RunningStore store = RunningStore.startEmpty(service.through(proxy));
                BoundedGauges bounded =
                        new BoundedGauges("test", new IndexGauges(store.connection()), Duration.ofMillis(50))) {
            proxy.freeze();
            assertThat(bounded.read()).isEmpty();
            proxy.cut();
            assertThatExceptionOfType(StoreUnavailableException.class)
                    .isThrownBy(new IndexGauges(store.connection())::read);
            proxy.heal();
            Awaitility.await().atMost(SETTLED).untilAsserted(() -> assertThat(bounded.read())
                    .containsKey("index_write_threads"));
        }
    }

    @Test
    void aWriterSaysHowManyBulksMayBeUnderWayAndCountsWhatItDoesNotAcknowledge() {
        try (TcpProxy proxy = TcpProxy.to(service.host(), service.port());
                RunningStore store = RunningStore.startEmpty(service.through(proxy))) {
            assertThat(store.sender().read()).containsEntry("bulks_in_flight_max", 2.0);
            assertThat(store.writer().read())
                    .containsEntry("store_failures", 0.0)
                    .containsEntry("store_timeouts", 0.0);
            proxy.freeze();
            assertThatThrownBy(() -> store.writer().write(post("frozen")))
                    .isInstanceOf(StoreUnavailableException.class);
            assertThat(store.writer().read()).containsEntry("store_timeouts", 1.0);
            proxy.cut();
            Awaitility.await().atMost(SETTLED).untilAsserted(() -> {
                assertThatThrownBy(() -> store.writer().write(post("cut")))
                        .isInstanceOf(StoreUnavailableException.class);
                assertThat(store.writer().read().get("store_failures")).isPositive();
            });
        }
    }
}
