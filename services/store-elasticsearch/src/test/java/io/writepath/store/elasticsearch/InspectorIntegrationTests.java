package io.writepath.store.elasticsearch;

import static io.writepath.store.elasticsearch.RunningStore.post;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import co.elastic.clients.elasticsearch.indices.TranslogDurability;
import io.writepath.post.Durability;
import io.writepath.post.Post;
import io.writepath.testsupport.BackingServices;
import io.writepath.testsupport.ElasticsearchService;
import java.io.IOException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

class InspectorIntegrationTests {

    private final ElasticsearchService service = BackingServices.elasticsearch();

    @Test
    void theReadBackHasEveryDocumentExactlyOnce() {
        try (RunningStore store = RunningStore.startEmpty(service, "writepath.elasticsearch.shards=3")) {
            Map<UUID, String> written = new HashMap<>();
            for (int batch = 0; batch < 25; batch++) {
                List<Post> posts = IntStream.range(0, 1_000)
                        .mapToObj(i -> post("post " + i))
                        .toList();
                store.batchWriter().write(posts);
                posts.forEach(post -> written.put(post.id(), post.content()));
            }
            List<UUID> ids = new ArrayList<>();
            store.inspector().forEach(stored -> {
                ids.add(stored.id());
                assertThat(stored.content()).isEqualTo(written.get(stored.id()));
            });
            assertThat(store.inspector().count()).isEqualTo(25_000);
            assertThat(ids).hasSize(25_000).doesNotHaveDuplicates();
        }
    }

    @Test
    void countAndReadBackSeeWhatNoRefreshHasShownYet() {
        try (RunningStore store = RunningStore.startEmpty(service, "writepath.elasticsearch.refresh-interval=-1")) {
            store.writer().write(post("fresh"));

            assertThat(store.stored()).hasSize(1);
            assertThat(store.inspector().count()).isEqualTo(1);
        }
    }

    @Test
    void aPostIsVisibleOnceARefreshHasShownItAndAskingRefreshesNothing() {
        try (RunningStore store = RunningStore.startEmpty(service, "writepath.elasticsearch.refresh-interval=-1")) {
            Post fresh = post("fresh");
            store.writer().write(fresh);
            List<UUID> asked = List.of(fresh.id(), UUID.randomUUID());

            assertThat(store.inspector().visible(asked)).isEmpty();
            assertThat(store.inspector().visible(asked)).isEmpty();
            assertThat(store.inspector().count()).isEqualTo(1);
            assertThat(store.inspector().visible(asked)).containsExactly(fresh.id());
        }
    }

    @Test
    void durabilityIsWhatTheLiveIndexSaysAndNotWhatWeDeclared() throws IOException {
        try (RunningStore store = RunningStore.startEmpty(service)) {
            assertThat(store.inspector().durability().level()).isEqualTo(Durability.Level.A);

            store.connection().background().indices().putSettings(put -> put.index(PostIndex.NAME)
                    .settings(settings -> settings.translog(log -> log.durability(TranslogDurability.Async))));

            Durability weakened = store.inspector().durability();
            assertThat(weakened.level()).isEqualTo(Durability.Level.B);
            assertThat(weakened.settings()).containsEntry("index.translog.durability", "async");
        }
    }

    @Test
    void aMissingCopyMakesTheDurabilityB() throws IOException {
        try (RunningStore store = RunningStore.startEmpty(service)) {
            store.connection().background().indices().putSettings(put -> put.index(PostIndex.NAME)
                    .settings(settings -> settings.numberOfReplicas(Integer.toString(service.nodes()))));

            assertThat(store.inspector().durability().level()).isEqualTo(Durability.Level.B);
        }
    }

    @Test
    void everyReplicaThatTheClusterHasRoomForCountsAsACopy() {
        int replicas = service.nodes() - 1;
        try (RunningStore store = RunningStore.startEmpty(
                service, "writepath.elasticsearch.shards=2", "writepath.elasticsearch.replicas=" + replicas)) {
            store.inspector().assertReady();
            Post written = store.writer().write(post("in every copy"));

            assertThat(store.writer().write(written)).isEqualTo(written);
            assertThat(store.inspector().durability().level()).isEqualTo(Durability.Level.A);
            assertThat(store.inspector().durability().settings())
                    .containsEntry("assigned_copies", Integer.toString(2 * service.nodes()))
                    .containsEntry("index.write.wait_for_active_shards", Integer.toString(service.nodes()));
        }
    }

    @Test
    void instancesThatStartAtOnceShareOneIndex() throws Exception {
        RunningStore.startEmpty(service).deleteIndex();
        try (RunningStore one = RunningStore.start(service);
                RunningStore two = RunningStore.start(service);
                RunningStore three = RunningStore.start(service)) {
            for (RunningStore store : List.of(one, two, three)) {
                store.awaitReady();
                store.writer().write(post("shared"));
            }
            assertThat(one.inspector().count()).isEqualTo(3);
        }
    }

    @Test
    void anIndexOfAnotherShapeIsNotReadyUntilItIsReset() {
        RunningStore.startEmpty(service, "writepath.elasticsearch.shards=1").close();
        try (RunningStore store = RunningStore.start(service, "writepath.elasticsearch.shards=2")) {
            Awaitility.await().atMost(RunningStore.START_MAX).untilAsserted(() -> assertThatThrownBy(
                            store.inspector()::assertReady)
                    .hasMessageContaining("ELASTICSEARCH_SHARDS is 2"));
            store.inspector().reset();
            store.inspector().assertReady();
        }
    }

    @Test
    void commitsHoldTheMomentOfEachAcknowledgementAndNotOfRepeats() {
        try (RunningStore store = RunningStore.startEmpty(service)) {
            Instant before = Instant.now().minusMillis(1);
            Post first = store.writer().write(post("first"));
            store.writer().write(first);
            Post second = post("second");
            store.batchWriter().write(List.of(second, first));

            Map<UUID, Instant> commits = new HashMap<>();
            store.commits().forEach(commits::put);
            assertThat(commits).containsOnlyKeys(first.id(), second.id());
            assertThat(commits.values()).allMatch(at -> at.isAfter(before) && !at.isAfter(Instant.now()));
            store.commits().reset();
            store.commits()
                    .forEach((id, at) -> assertThat(id).as("left after a reset").isNull());
        }
    }

    @Test
    void theServersVersionIsAskedOfTheServer() {
        try (RunningStore store = RunningStore.startEmpty(service)) {
            assertThat(store.inspector().versions().get("elasticsearch")).startsWith("8.");
        }
    }
}
