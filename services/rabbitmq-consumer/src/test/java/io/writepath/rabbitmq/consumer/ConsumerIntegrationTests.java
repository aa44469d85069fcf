package io.writepath.rabbitmq.consumer;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.rabbitmq.client.GetResponse;
import io.writepath.post.Post;
import io.writepath.post.PostBatchWriter;
import io.writepath.post.QueueInspector.Pending;
import io.writepath.post.StoreUnavailableException;
import io.writepath.queue.rabbitmq.PostMessages;
import io.writepath.testsupport.BackingServices;
import io.writepath.testsupport.PostgresService;
import io.writepath.testsupport.RabbitService;
import io.writepath.testsupport.TcpProxy;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class ConsumerIntegrationTests {

    private static final Duration DRAINED = Duration.ofSeconds(60);
    private static final Duration SOON = Duration.ofSeconds(10);
    private static final RabbitService RABBIT = BackingServices.rabbitmq();
    private static final PostgresService POSTGRES = BackingServices.postgres();

    private final TcpProxy toBroker = TcpProxy.to(RABBIT.host(), RABBIT.port());
    private final TcpProxy toStore = TcpProxy.to(POSTGRES.host(), POSTGRES.port());
    private Sender sender;

    @BeforeEach
    void emptyEverything() throws Exception {
        try (RunningConsumer consumer = RunningConsumer.start(RABBIT, POSTGRES)) {
            await().atMost(SOON).ignoreExceptions().untilAsserted(consumer.queue()::assertReady);
            consumer.reset();
        }
        sender = new Sender(RABBIT);
    }

    @AfterEach
    void close() throws Exception {
        sender.close();
        toBroker.close();
        toStore.close();
    }

    @Test
    void tenThousandPostsAreStoredExactlyOnce() throws Exception {
        List<Post> posts = Sender.posts(10_000);
        try (RunningConsumer consumer = RunningConsumer.start(RABBIT, POSTGRES)) {
            sender.send(posts);

            await().atMost(DRAINED).until(() -> consumer.hasDrainedTo(10_000));

            assertThat(storedIds(consumer)).containsExactlyInAnyOrderElementsOf(ids(posts));
            assertThat(consumer.counters())
                    .containsEntry("consumed", 10_000.0)
                    .containsEntry("messages_consumed", 10_000.0 / Sender.GROUP)
                    .containsEntry("stored", 10_000.0)
                    .containsEntry("suppressed_duplicates", 0.0)
                    .containsEntry("parked", 0.0)
                    .containsEntry("consumer_loops", 1.0);
            assertThat(consumer.counter("consumer_busy_seconds")).isPositive();
            assertThat(consumer.counter("batches")).isBetween(15.0, 1_000.0);
        }
    }

    @Test
    void hasTheManagementPortAloneAndServesNoPosts() throws Exception {
        try (RunningConsumer consumer = RunningConsumer.start(RABBIT, POSTGRES)) {
            await().atMost(DRAINED).until(() -> consumer.managementStatus("/actuator/health/readiness") == 200);
            assertThat(consumer.managementStatus("/api/posts?keyword=a")).isEqualTo(404);
            assertThat(consumer.controllers()).isEmpty();
        }
    }

    @Test
    void oneUndecodableMessageAmongAThousandIsParkedAlone() throws Exception {
        List<Post> posts = Sender.posts(999);
        sender.send(posts.subList(0, 500));
        sender.send("broken", "not a post".getBytes(UTF_8));
        sender.send(posts.subList(500, 999));

        try (RunningConsumer consumer = RunningConsumer.start(RABBIT, POSTGRES)) {
            await().atMost(DRAINED).until(() -> consumer.hasDrainedTo(999));

            assertThat(storedIds(consumer)).containsExactlyInAnyOrderElementsOf(ids(posts));
            assertThat(consumer.queue().pending()).isEqualTo(new Pending(0, 0, 1));
            assertThat(consumer.counter("parked")).isEqualTo(1);
        }
        GetResponse parked = Objects.requireNonNull(sender.takeParked());
        assertThat(new String(parked.getBody(), UTF_8)).isEqualTo("not a post");
        assertThat(parked.getProps().getHeaders().get("x-parked-reason"))
                .asString()
                .startsWith("undecodable");
    }

    @Test
    void anUndecodablePostOfAMessageIsParkedAloneAsItCame() throws Exception {
        List<Post> posts = Sender.posts(9);
        String noPost = "{\"id\":\"%s\",\"content\":null}".formatted(UUID.randomUUID());
        String body = String.join("\n", text(posts.subList(0, 4)), noPost, text(posts.subList(4, 9)));
        sender.send("posts", body.getBytes(UTF_8));
        sender.awaitConfirms();

        try (RunningConsumer consumer = RunningConsumer.start(RABBIT, POSTGRES)) {
            await().atMost(DRAINED).until(() -> consumer.hasDrainedTo(9));

            assertThat(storedIds(consumer)).containsExactlyInAnyOrderElementsOf(ids(posts));
            assertThat(consumer.queue().pending()).isEqualTo(new Pending(0, 0, 1));
            assertThat(consumer.counters()).containsEntry("consumed", 10.0).containsEntry("messages_consumed", 1.0);
        }
        GetResponse parked = Objects.requireNonNull(sender.takeParked());
        assertThat(new String(parked.getBody(), UTF_8)).isEqualTo(noPost);
    }

    @Test
    void aMessageOfAForeignTypeIsParkedInOnePiece() throws Exception {
        String body = text(Sender.posts(3));
        sender.send("foreign", "posts.v2", body.getBytes(UTF_8));
        sender.awaitConfirms();

        try (RunningConsumer consumer = RunningConsumer.start(RABBIT, POSTGRES)) {
            await().atMost(DRAINED).until(() -> consumer.queue().pending().equals(new Pending(0, 0, 1)));
            assertThat(consumer.store().count()).isZero();
        }
        GetResponse parked = Objects.requireNonNull(sender.takeParked());
        assertThat(new String(parked.getBody(), UTF_8)).isEqualTo(body);
        assertThat(parked.getProps().getHeaders().get("x-original-type")).hasToString("posts.v2");
    }

    @Test
    void depthsAreCountedInPosts() throws Exception {
        AtomicBoolean open = new AtomicBoolean();
        sender.send(Sender.posts(200));
        try (RunningConsumer consumer = RunningConsumer.start(
                RABBIT,
                POSTGRES,
                writer -> batch -> {
                    if (!open.get()) {
                        throw new StoreUnavailableException("closed");
                    }
                    return writer.write(batch);
                },
                "writepath.consumer.batch-messages=4",
                "writepath.consumer.prefetch=8")) {
            await().atMost(DRAINED)
                    .untilAsserted(() -> assertThat(consumer.queue().pending()).isEqualTo(new Pending(120, 80, 0)));

            open.set(true);

            await().atMost(DRAINED).until(() -> consumer.hasDrainedTo(200));
        }
    }

    @Test
    void theSameIdWithTheSameContentIsSuppressedAndWithOtherContentParked() throws Exception {
        Post first = Sender.posts(1).getFirst();
        sender.send(List.of(first, first, new Post(first.id(), "other content", Instant.now())));

        try (RunningConsumer consumer = RunningConsumer.start(RABBIT, POSTGRES)) {
            await().atMost(DRAINED).until(() -> consumer.counter("consumed") == 3);

            assertThat(storedContents(consumer)).containsExactly(first.content());
            assertThat(consumer.counters())
                    .containsEntry("stored", 1.0)
                    .containsEntry("suppressed_duplicates", 1.0)
                    .containsEntry("parked", 1.0);
            assertThat(consumer.queue().pending().dead()).isEqualTo(1);
        }
    }

    @Test
    void aPostThatMakesEveryBatchFailIsParkedAndItsNeighboursAreStored() throws Exception {
        List<Post> posts = new ArrayList<>(Sender.posts(200));
        posts.add(77, new Post(UUID.randomUUID(), "poison", Instant.now()));
        sender.send(posts);

        try (RunningConsumer consumer = RunningConsumer.start(RABBIT, POSTGRES, failingOn("poison"))) {
            await().atMost(DRAINED).until(() -> consumer.hasDrainedTo(200));

            assertThat(storedContents(consumer)).doesNotContain("poison");
            assertThat(consumer.queue().pending().dead()).isEqualTo(1);
        }
        GetResponse parked = Objects.requireNonNull(sender.takeParked());
        assertThat(PostMessages.lines(parked.getBody()).stream().map(PostMessages::decode))
                .containsExactly(posts.get(77));
        assertThat(parked.getProps().getMessageId())
                .isEqualTo(posts.get(77).id().toString());
    }

    @Test
    void aFailureNobodyForesawIsTriedAgainInPlaceAndLosesOrDeadLettersNothing() throws Exception {
        AtomicInteger writes = new AtomicInteger();
        List<Post> posts = Sender.posts(200);
        sender.send(posts);

        // Too few outcomes: what fails is not the store's writer but the code that reads its answer.
        try (RunningConsumer consumer = RunningConsumer.start(
                RABBIT, POSTGRES, writer -> batch -> writes.getAndIncrement() < 4 ? List.of() : writer.write(batch))) {
            await().atMost(DRAINED).until(() -> consumer.hasDrainedTo(200));

            assertThat(storedIds(consumer)).containsExactlyInAnyOrderElementsOf(ids(posts));
            assertThat(consumer.counters())
                    .containsEntry("consumed", 200.0)
                    .containsEntry("redelivered", 0.0)
                    .containsEntry("parked", 0.0);
            assertThat(consumer.queue().pending()).isEqualTo(new Pending(0, 0, 0));
        }
    }

    @Test
    void aQueueMadeAgainWithOtherSettingsIsConsumedAndItsDurabilitySaysSo() throws Exception {
        List<Post> posts = Sender.posts(100);
        try (RunningConsumer consumer = RunningConsumer.start(RABBIT, POSTGRES)) {
            // The consumer makes the right queue again itself, and may be faster.
            await().atMost(SOON).ignoreExceptions().until(sender::makeClassicQueue);

            sender.send(posts);

            await().atMost(DRAINED).ignoreExceptions().until(() -> consumer.hasDrainedTo(100));
            assertThat(storedIds(consumer)).containsExactlyInAnyOrderElementsOf(ids(posts));
            consumer.queue().assertReady();
            assertThat(consumer.queue().durability().level()).hasToString("B");
        } finally {
            sender.deleteQueue();
        }
    }

    @Test
    void aQueueDeletedAndMadeAgainAtOnceIsConsumed() throws Exception {
        List<Post> posts = Sender.posts(200);
        try (RunningConsumer consumer = RunningConsumer.start(RABBIT, POSTGRES)) {
            sender.send(posts.subList(0, 100));
            await().atMost(DRAINED).until(() -> consumer.hasDrainedTo(100));
            sender.makeQueueAgain();
            sender.send(posts.subList(100, 200));

            await().atMost(DRAINED).ignoreExceptions().until(() -> consumer.hasDrainedTo(200));
            assertThat(storedIds(consumer)).containsExactlyInAnyOrderElementsOf(ids(posts));
        }
    }

    @Test
    void aContainerThatTookARefusalForFatalIsStartedAgain() throws Exception {
        List<Post> posts = Sender.posts(100);
        AtomicBoolean blind = new AtomicBoolean();
        try (RunningConsumer consumer =
                RunningConsumer.startBlindable(RABBIT, POSTGRES, blind, sender::makeClassicQueue)) {
            blind.set(true);
            sender.deleteQueue();
            await().atMost(SOON).until(() -> !blind.get());

            sender.send(posts);

            await().atMost(DRAINED).ignoreExceptions().until(() -> consumer.hasDrainedTo(100));
            assertThat(storedIds(consumer)).containsExactlyInAnyOrderElementsOf(ids(posts));
            assertThat(consumer.queue().durability().level()).hasToString("B");
        } finally {
            sender.deleteQueue();
        }
    }

    @Test
    void aDeletedQueueIsMadeAgain() throws Exception {
        List<Post> posts = Sender.posts(100);
        try (RunningConsumer consumer = RunningConsumer.start(RABBIT, POSTGRES)) {
            sender.deleteQueue();
            await().atMost(SOON).ignoreExceptions().until(() -> {
                consumer.queue().assertReady();
                return true;
            });

            sender.send(posts);

            await().atMost(DRAINED).until(() -> consumer.hasDrainedTo(100));
            assertThat(consumer.queue().durability().level()).hasToString("A");
        }
    }

    @Test
    void aStoreThatIsDownForAWhileLosesAndDeadLettersNothing() throws Exception {
        List<Post> posts = Sender.posts(3_000);
        try (RunningConsumer consumer = RunningConsumer.start(RABBIT, POSTGRES.through(toStore))) {
            toStore.cut();
            sender.send(posts);
            await().atMost(DRAINED).until(() -> consumer.counter("store_retries") >= 3);
            assertThat(consumer.queue().pending().dead()).isZero();
            assertThat(consumer.counter("consumed")).isZero();

            toStore.heal();

            await().atMost(DRAINED).until(() -> consumer.hasDrainedTo(3_000));
            assertThat(storedIds(consumer)).containsExactlyInAnyOrderElementsOf(ids(posts));
            assertThat(consumer.queue().pending().dead()).isZero();
            assertThat(consumer.counters()).containsEntry("redelivered", 0.0).containsEntry("parked", 0.0);
        }
    }

    @Test
    void stoppingWhileTheStoreIsDownIsPromptAndLeavesEverythingInTheQueue() throws Exception {
        RunningConsumer consumer = RunningConsumer.start(RABBIT, POSTGRES.through(toStore));
        toStore.cut();
        sender.send(Sender.posts(100));
        await().atMost(DRAINED).until(() -> consumer.counter("store_retries") >= 1);

        long startedAt = System.nanoTime();
        consumer.close();

        assertThat(Duration.ofNanos(System.nanoTime() - startedAt)).isLessThan(SOON);
        try (RunningConsumer next = RunningConsumer.start(RABBIT, POSTGRES)) {
            await().atMost(DRAINED).until(() -> next.hasDrainedTo(100));
        }
    }

    @Test
    void aConnectionLostBetweenCommitAndAcknowledgementOnlyCausesSuppressedDuplicates() throws Exception {
        AtomicInteger cutAfter = new AtomicInteger();
        AtomicReference<@Nullable RunningConsumer> running = new AtomicReference<>();
        List<Post> posts = Sender.posts(1_000);
        sender.send(posts);

        try (RunningConsumer consumer = RunningConsumer.start(RABBIT.through(toBroker), POSTGRES, writer -> batch -> {
            var outcomes = writer.write(batch);
            if (cutAfter.compareAndSet(0, batch.size())) {
                toBroker.cut();
                // A client that has not noticed the cut acknowledges, and counts, into a socket that nobody reads.
                await().atMost(SOON).until(() -> isDisconnected(running.get()));
                toBroker.heal();
            }
            return outcomes;
        })) {
            running.set(consumer);
            // The inspector asks through the same proxy, so it may meet the cut itself.
            await().atMost(DRAINED).ignoreExceptions().until(() -> consumer.hasDrainedTo(1_000));

            assertThat(storedIds(consumer)).containsExactlyInAnyOrderElementsOf(ids(posts));
            assertThat(consumer.counter("suppressed_duplicates")).isEqualTo(cutAfter.get());
            assertThat(consumer.counter("redelivered")).isGreaterThanOrEqualTo(cutAfter.get());
            assertThat(consumer.counter("consumed")).isEqualTo(1_000);
        }
    }

    @Test
    void aResetThrowsAwayWhatWaitsWhatIsInHandAndWhatIsParked() throws Exception {
        sender.send("broken", "not a post".getBytes(UTF_8));
        sender.send(Sender.posts(5_000));
        try (RunningConsumer consumer = RunningConsumer.start(RABBIT, POSTGRES)) {
            await().atMost(DRAINED).until(() -> consumer.counter("batches") >= 1);

            consumer.reset();

            assertThat(consumer.store().count()).isZero();
            List<Post> after = Sender.posts(10);
            sender.send(after);
            await().atMost(DRAINED).until(() -> consumer.hasDrainedTo(10));
            assertThat(storedIds(consumer)).containsExactlyInAnyOrderElementsOf(ids(after));
            assertThat(consumer.queue().pending()).isEqualTo(new Pending(0, 0, 0));
        }
    }

    @Test
    void whatA201PromisesIsReadBackFromTheBroker() {
        try (RunningConsumer consumer = RunningConsumer.start(RABBIT, POSTGRES)) {
            assertThat(consumer.queue().durability().level()).hasToString("A");
            assertThat(consumer.queue().durability().settings()).containsEntry("queue.x-queue-type", "quorum");
        }
    }

    private static boolean isDisconnected(@Nullable RunningConsumer consumer) {
        return consumer != null && !consumer.connected();
    }

    private static UnaryOperator<PostBatchWriter> failingOn(String content) {
        return writer -> batch -> {
            if (batch.stream().anyMatch(post -> post.content().equals(content))) {
                throw new IllegalStateException("no store is without bugs");
            }
            return writer.write(batch);
        };
    }

    private static String text(List<Post> posts) {
        return new String(Sender.body(posts), UTF_8);
    }

    private static List<UUID> ids(List<Post> posts) {
        return posts.stream().map(Post::id).toList();
    }

    private static List<UUID> storedIds(RunningConsumer consumer) {
        List<UUID> ids = new ArrayList<>();
        consumer.store().forEach(stored -> ids.add(stored.id()));
        return ids;
    }

    private static Set<String> storedContents(RunningConsumer consumer) {
        Set<String> contents = new HashSet<>();
        consumer.store().forEach(stored -> contents.add(stored.content()));
        return contents;
    }
}
