package io.writepath.rabbitmq.consumer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.writepath.post.Durability;
import io.writepath.post.Post;
import io.writepath.post.PostBatchWriter;
import io.writepath.post.QueueInspector.Pending;
import io.writepath.post.StoreUnavailableException;
import io.writepath.testsupport.BackingServices;
import io.writepath.testsupport.PostgresService;
import io.writepath.testsupport.RabbitService;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What becomes of messages that only the consumer's memory holds. */
class DeliveredIntegrationTests {

    private static final Duration DRAINED = Duration.ofSeconds(60);
    private static final Duration SOON = Duration.ofSeconds(10);
    private static final RabbitService RABBIT = BackingServices.rabbitmq();
    private static final PostgresService POSTGRES = BackingServices.postgres();

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
    }

    @Test
    void whatWasDeliveredIsStoredWhenItsQueueIsDeleted() throws Exception {
        AtomicBoolean open = new AtomicBoolean();
        // 70 messages: one batch in hand, the rest delivered, too few for another whole batch.
        List<Post> posts = Sender.posts(700);
        sender.send(posts);
        try (RunningConsumer consumer = RunningConsumer.start(RABBIT, POSTGRES, closedUntil(open))) {
            await().atMost(DRAINED).until(() -> consumer.queue().pending().unacknowledged() == 700);

            sender.deleteQueue();
            open.set(true);

            await().atMost(DRAINED).until(() -> consumer.store().count() == 700);
            assertThat(storedIds(consumer)).containsExactlyInAnyOrderElementsOf(ids(posts));
            assertThat(consumer.counter("rescued")).isPositive();
            List<Post> after = Sender.posts(10);
            await().atMost(SOON).ignoreExceptions().until(() -> {
                consumer.queue().assertReady();
                return true;
            });
            sender.send(after);
            await().atMost(DRAINED).until(() -> consumer.hasDrainedTo(710));
        }
    }

    @Test
    void acknowledgingOnDeliveryLosesWhatIsInMemoryAndSaysSo() throws Exception {
        AtomicBoolean open = new AtomicBoolean();
        sender.send(Sender.posts(700));
        try (RunningConsumer naive = RunningConsumer.start(
                RABBIT, POSTGRES, closedUntil(open), "writepath.consumer.acknowledge=on-delivery")) {
            await().atMost(DRAINED)
                    .untilAsserted(() -> assertThat(naive.queue().pending()).isEqualTo(new Pending(0, 700, 0)));
            assertThat(naive.queue().durability().level()).hasToString("C");
            assertThat(naive.queue().durability().settings())
                    .containsEntry(Durability.LOWERED_BY, "consume.automatic_acknowledgement");
        }
        try (RunningConsumer next = RunningConsumer.start(RABBIT, POSTGRES)) {
            assertThat(next.queue().pending().ready()).isZero();
            assertThat(next.store().count()).isZero();
        }
    }

    @Test
    void acknowledgingOnDeliveryStoresEverythingWhileNothingGoesWrong() throws Exception {
        List<Post> posts = Sender.posts(3_000);
        try (RunningConsumer naive = RunningConsumer.start(
                RABBIT, POSTGRES, UnaryOperator.identity(), "writepath.consumer.acknowledge=on-delivery")) {
            sender.send(posts);
            await().atMost(DRAINED).until(() -> naive.hasDrainedTo(3_000));
            assertThat(storedIds(naive)).containsExactlyInAnyOrderElementsOf(ids(posts));
            assertThat(naive.counters()).containsEntry("consumed", 3_000.0);
            assertThat(naive.queue().durability().level()).hasToString("C");
            naive.reset();
            assertThat(naive.store().count()).isZero();
        }
    }

    private static UnaryOperator<PostBatchWriter> closedUntil(AtomicBoolean open) {
        return writer -> batch -> {
            if (!open.get()) {
                throw new StoreUnavailableException("closed");
            }
            return writer.write(batch);
        };
    }

    private static List<UUID> ids(List<Post> posts) {
        return posts.stream().map(Post::id).toList();
    }

    private static List<UUID> storedIds(RunningConsumer consumer) {
        List<UUID> ids = new ArrayList<>();
        consumer.store().forEach(stored -> ids.add(stored.id()));
        return ids;
    }
}
