package io.writepath.store.elasticsearch;

import static io.writepath.store.elasticsearch.RunningStore.post;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.writepath.post.Post;
import io.writepath.post.StoreUnavailableException;
import io.writepath.testsupport.BackingServices;
import io.writepath.testsupport.ElasticsearchService;
import io.writepath.testsupport.Metrics;
import io.writepath.testsupport.TcpProxy;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.LongAdder;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** When Elasticsearch cannot keep the promise: an error within the deadline, never an acknowledgement. */
class UnavailableIntegrationTests {

    private static final String BULK = "writepath.elasticsearch.write-mode=bulk";
    private static final String SINGLE = "writepath.elasticsearch.write-mode=single";
    private static final Duration DEADLINE = Duration.ofSeconds(5);

    private final ElasticsearchService service = BackingServices.elasticsearch();

    @ParameterizedTest
    @ValueSource(strings = {BULK, SINGLE})
    void aStoppedClusterIsUnavailableWithinTheDeadlineAndUsableOnceItIsBack(String mode) {
        try (TcpProxy proxy = TcpProxy.to(service.host(), service.port());
                RunningStore store = RunningStore.startEmpty(service.through(proxy), mode)) {
            store.writer().write(post("before"));
            proxy.cut();
            assertUnavailable(store);
            assertThatThrownBy(store.inspector()::assertReady).isInstanceOf(StoreUnavailableException.class);
            proxy.heal();
            Awaitility.await().atMost(DEADLINE).ignoreExceptions().until(() -> {
                store.writer().write(post("after"));
                return true;
            });
            store.inspector().assertReady();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {BULK, SINGLE})
    void aFrozenClusterIsUnavailableWithinTheDeadlineAndUsableOnceItThaws(String mode) {
        try (TcpProxy proxy = TcpProxy.to(service.host(), service.port());
                RunningStore store = RunningStore.startEmpty(service.through(proxy), mode)) {
            store.writer().write(post("before"));
            proxy.freeze();
            assertUnavailable(store);
            proxy.heal();
            Awaitility.await().atMost(DEADLINE).ignoreExceptions().until(() -> {
                store.writer().write(post("after"));
                return true;
            });
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {BULK, SINGLE})
    void nothingIsAcknowledgedAfterTheIndexIsDeletedUnderLoad(String mode) throws Exception {
        try (RunningStore store = RunningStore.startEmpty(service, mode)) {
            Queue<Post> acknowledged = new ConcurrentLinkedQueue<>();
            LongAdder refused = new LongAdder();
            AtomicBoolean running = new AtomicBoolean(true);
            List<Thread> writers = startWriters(store, running, acknowledged, refused);
            Awaitility.await().atMost(DEADLINE).until(() -> acknowledged.size() > 200);
            store.deleteIndex();
            Instant deletedAt = Instant.now();
            assertUnavailable(store);
            refused.reset();
            Awaitility.await().atMost(DEADLINE).until(() -> refused.sum() > 200);
            running.set(false);
            for (Thread writer : writers) {
                writer.join();
            }
            assertThat(acknowledged).noneMatch(post -> post.createdAt().isAfter(deletedAt));
            assertThat(store.connection().get("/_cat/indices", Map.of("format", "json")))
                    .as("indexes that a write might have created")
                    .isEmpty();
            assertThatThrownBy(store.inspector()::assertReady).hasMessageContaining("missing");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {BULK, SINGLE})
    void aDeclaredReplicaWithoutANodeIsNeitherReadyNorAcknowledged(String mode) throws IOException {
        try (RunningStore store =
                RunningStore.start(service, mode, "writepath.elasticsearch.replicas=" + service.nodes())) {
            Awaitility.await().atMost(RunningStore.START_MAX).untilAsserted(() -> assertThatThrownBy(
                            store.inspector()::assertReady)
                    .hasMessageContaining("need as many Elasticsearch nodes"));
            Post refused = post("one copy too few");
            assertThatThrownBy(() -> store.writer().write(refused))
                    .isInstanceOf(StoreUnavailableException.class)
                    .hasMessageContaining("fewer copies");
            assertThat(store.reader().find(refused.id())).isEmpty();
            Awaitility.await().atMost(DEADLINE).untilAsserted(() -> assertThat(Metrics.of(store.allocation()))
                    .as("a shard given up after failed attempts is tried again")
                    .containsEntry("allocation_retries", 1.0));
        } finally {
            RunningStore.startEmpty(service).close();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {BULK, SINGLE})
    void aPostThatTheDeclaredReplicaDoesNotHaveIsNotAcknowledged(String mode) throws IOException {
        try (RunningStore store =
                RunningStore.start(service, mode, "writepath.elasticsearch.replicas=" + service.nodes())) {
            store.letPrimariesWriteAlone();
            Post alone = post("on disk once");
            assertThatThrownBy(() -> store.writer().write(alone))
                    .isInstanceOf(StoreUnavailableException.class)
                    .hasMessageContaining("of %d declared copies have the post", service.nodes() + 1);
            assertThat(store.reader().find(alone.id())).contains(alone);
        } finally {
            RunningStore.startEmpty(service).close();
        }
    }

    @Test
    void aFullQueueRefusesAtOnceAndWhatItsCallersGaveUpIsNeverSent() {
        try (TcpProxy proxy = TcpProxy.to(service.host(), service.port());
                RunningStore store = RunningStore.startEmpty(service.through(proxy), BULK)) {
            proxy.freeze();
            List<CompletableFuture<Reply>> replies = new ArrayList<>();
            for (int i = 0; i < 12_000; i++) {
                Post post = post("waiting " + i);
                replies.add(store.sender().send(new Operation.Create(post.id(), store.document(post))));
            }
            assertThat(replies.getLast().getNow(new Reply.Taken()))
                    .isEqualTo(new Reply.Unavailable("the queue before Elasticsearch is full"));
            replies.forEach(reply -> reply.cancel(false));
            proxy.heal();
            Awaitility.await()
                    .atMost(DEADLINE)
                    .until(() -> Metrics.of(store.sender()).getOrDefault("bulk_queued", 1.0) == 0);
            assertThat(store.inspector().count()).isLessThanOrEqualTo(1_000);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {BULK, SINGLE})
    void anAnswerAfterItsCallerGaveUpStillCountsAsACommit(String mode) {
        try (TcpProxy proxy = TcpProxy.to(service.host(), service.port());
                RunningStore store = RunningStore.startEmpty(service.through(proxy), mode)) {
            store.writer().write(post("before"));
            proxy.freeze();
            Post late = post("late");
            store.sender()
                    .send(new Operation.Create(late.id(), store.document(late)))
                    .cancel(false);
            proxy.heal();
            Awaitility.await().atMost(DEADLINE).untilAsserted(() -> {
                Set<UUID> committed = new HashSet<>();
                store.commits().forEach((id, at) -> committed.add(id));
                assertThat(committed).contains(late.id());
                assertThat(Metrics.of(store.sender())
                                .getOrDefault(mode.equals(BULK) ? "bulks_in_flight" : "singles_in_flight", 1.0))
                        .isZero();
            });
        }
    }

    @Test
    void theIndexIsMadeWhenTheClusterComesLaterThanTheApplication() throws IOException {
        RunningStore.startEmpty(service).deleteIndex();
        try (TcpProxy proxy = TcpProxy.to(service.host(), service.port())) {
            proxy.cut();
            try (RunningStore store = RunningStore.start(service.through(proxy))) {
                assertUnavailable(store);
                proxy.heal();
                store.awaitReady();
                store.writer().write(post("at last"));
            }
        }
    }

    private static List<Thread> startWriters(
            RunningStore store, AtomicBoolean running, Collection<Post> acknowledged, LongAdder refused) {
        List<Thread> writers = new ArrayList<>();
        for (int i = 0; i < 32; i++) {
            writers.add(Thread.startVirtualThread(() -> {
                while (running.get()) {
                    try {
                        acknowledged.add(store.writer().write(post("under load")));
                    } catch (StoreUnavailableException expected) {
                        refused.increment();
                    }
                }
            }));
        }
        return writers;
    }

    private static void assertUnavailable(RunningStore store) {
        long start = System.nanoTime();
        assertThatThrownBy(() -> store.writer().write(post("unavailable")))
                .isInstanceOf(StoreUnavailableException.class);
        assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(DEADLINE);
    }
}
