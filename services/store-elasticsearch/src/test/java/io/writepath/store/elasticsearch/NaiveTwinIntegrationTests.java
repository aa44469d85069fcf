package io.writepath.store.elasticsearch;

import static io.writepath.store.elasticsearch.RunningStore.post;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.writepath.post.Durability;
import io.writepath.post.Durability.Level;
import io.writepath.post.Post;
import io.writepath.post.StoreUnavailableException;
import io.writepath.post.StoredPost;
import io.writepath.testsupport.BackingServices;
import io.writepath.testsupport.ElasticsearchService;
import io.writepath.testsupport.TcpProxy;
import java.time.Duration;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Each naive setting goes wrong as expected, and the inspector shows it. */
class NaiveTwinIntegrationTests {

    private static final Duration DEADLINE = Duration.ofSeconds(5);
    private static final String AUTO_IDS = "writepath.elasticsearch.ids=auto";

    private final ElasticsearchService service = BackingServices.elasticsearch();

    @AfterEach
    void leaveTheIndexAsOthersExpectIt() {
        RunningStore.startEmpty(service).close();
    }

    @Test
    void anAsynchronousTranslogIsLevelBAndNamed() {
        try (RunningStore store =
                RunningStore.startEmpty(service, "writepath.elasticsearch.translog-durability=async")) {
            Durability durability = store.inspector().durability();
            assertThat(durability.level()).isEqualTo(Level.B);
            assertThat(durability.settings())
                    .containsEntry(Durability.LOWERED_BY, "index.translog.durability")
                    .containsEntry("index.translog.durability", "async");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"bulk", "single"})
    void withAutomaticIdsAPostIsFoundAtOnceAndSearched(String mode) {
        try (RunningStore store =
                RunningStore.startEmpty(service, AUTO_IDS, "writepath.elasticsearch.write-mode=" + mode)) {
            Post post = post("naive 영화");

            assertThat(store.writer().write(post)).isEqualTo(post);

            assertThat(store.reader().find(post.id())).contains(post);
            assertThat(store.reader().search("영화", 0, 10).posts()).containsExactly(post);
            assertThat(store.inspector().durability().level()).isEqualTo(Level.A);
            assertThat(store.stored()).containsExactly(new StoredPost(post.id(), post.content(), null));
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"bulk", "single"})
    void withAutomaticIdsAWriteSentAgainIsStoredTwiceAndBothAreSeen(String mode) {
        try (TcpProxy proxy = TcpProxy.to(service.host(), service.port());
                RunningStore store = RunningStore.startEmpty(
                        service.through(proxy), AUTO_IDS, "writepath.elasticsearch.write-mode=" + mode)) {
            store.writer().write(post("before"));
            proxy.freeze();
            Post post = post("sent twice");
            long start = System.nanoTime();
            assertThatThrownBy(() -> store.writer().write(post)).isInstanceOf(StoreUnavailableException.class);
            assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(DEADLINE);

            proxy.heal();

            Awaitility.await().atMost(DEADLINE).untilAsserted(() -> assertThat(store.stored())
                    .filteredOn(stored -> stored.id().equals(post.id()))
                    .hasSize(2));
            assertThat(store.inspector().count()).isEqualTo(3);
            assertThat(store.reader().find(post.id())).contains(post);
        }
    }
}
