package io.writepath.queue.rabbitmq;

import static io.writepath.queue.rabbitmq.PublishOutcome.BLOCKED;
import static io.writepath.queue.rabbitmq.PublishOutcome.CONFIRMED;
import static io.writepath.queue.rabbitmq.PublishOutcome.DISCONNECTED;
import static io.writepath.queue.rabbitmq.PublishOutcome.LOST;
import static io.writepath.queue.rabbitmq.PublishOutcome.NACKED;
import static io.writepath.queue.rabbitmq.PublishOutcome.RETURNED;
import static io.writepath.queue.rabbitmq.PublishOutcome.SENT;
import static io.writepath.queue.rabbitmq.PublishOutcome.UNCONFIRMED;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.writepath.post.Durability;
import io.writepath.post.Durability.Level;
import io.writepath.testsupport.BackingServices;
import io.writepath.testsupport.Metrics;
import io.writepath.testsupport.RabbitService;
import io.writepath.testsupport.TcpProxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.util.unit.DataSize;

class ConfirmPublisherIntegrationTests {

    private static final Duration CONFIRM_WAIT = Duration.ofSeconds(2);
    private static final Duration RECOVERY = Duration.ofSeconds(10);
    private static final Duration RESTART = Duration.ofSeconds(30);
    private static final Grouping GROUPING = new Grouping(256, 128 * 1024, 1);
    private static final RabbitService RABBIT = BackingServices.rabbitmq();

    private final QueueTopology topology = new QueueTopology(new QueueSettings(1_000_000, 100));
    private final TcpProxy proxy = TcpProxy.to(RABBIT.host(), RABBIT.port());
    private final ConfirmPublisher publisher = publisher(RABBIT.through(proxy), topology);
    private final QueueReadBack readBack =
            new QueueReadBack(Broker.connections(RABBIT), topology, new PostsPerMessage());
    private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();

    @BeforeEach
    void forgetTopology() throws Exception {
        Broker.forgetTopology(RABBIT);
    }

    @AfterEach
    void close() {
        threads.shutdownNow();
        publisher.close();
        readBack.close();
        proxy.close();
    }

    @Test
    void whatIsNotTakenForWantOfABrokerIsCounted() {
        assertThat(Metrics.of(publisher)).containsEntry("publish_refused", 0.0);
        assertThat(publish()).isEqualTo(DISCONNECTED);
        assertThat(Metrics.of(publisher)).containsEntry("publish_refused", 1.0);
    }

    @Test
    void aConfirmedMessageIsInTheQueue() {
        publisher.start();

        assertThat(publish()).isEqualTo(CONFIRMED);
        assertThat(readBack.ready()).isEqualTo(1);
    }

    @Test
    void aMessageWithoutARouteIsReturnedAndNeverConfirmed() throws Exception {
        publisher.start();
        Broker.onChannel(
                RABBIT, channel -> channel.queueUnbind(QueueNames.QUEUE, QueueNames.EXCHANGE, QueueNames.ROUTING_KEY));

        assertThat(publish()).isEqualTo(RETURNED);
        assertThat(readBack.ready()).isZero();
        assertThat(Metrics.of(publisher)).containsEntry("returned", 1.0).containsEntry("confirmed", 0.0);
    }

    @Test
    void aDeletedBindingIsMadeAgainWithoutAReconnect() throws Exception {
        publisher.start();
        Broker.onChannel(
                RABBIT, channel -> channel.queueUnbind(QueueNames.QUEUE, QueueNames.EXCHANGE, QueueNames.ROUTING_KEY));

        assertThat(publish()).isEqualTo(RETURNED);
        await().atMost(RECOVERY).until(() -> publish() == CONFIRMED);
        assertThat(Metrics.of(publisher))
                .containsEntry("topology_repairs", 1.0)
                .containsEntry("publisher_connections", 1.0);
    }

    /** The broker may close the channel of a message that was on its way to the queue: then it is by a reconnect. */
    @Test
    void aQueueDeletedUnderLoadIsMadeAgain() throws Exception {
        publisher.start();
        List<Future<PublishOutcome>> load = start(500, this::publish);
        Broker.onChannel(RABBIT, channel -> channel.queueDelete(QueueNames.QUEUE));

        await().atMost(RECOVERY).until(() -> publish() == CONFIRMED && readBack.ready() > 0);
        assertThat(outcomes(load)).containsAnyOf(CONFIRMED, RETURNED);
    }

    @Test
    void withoutConfirmsAMessageCountsAsSoonAsItIsSent() throws Exception {
        try (ConfirmPublisher naive = publisher(RABBIT, topology, new PublishMode(false, true, true))) {
            naive.start();
            assertThat(naive.publish(Broker.message(), CONFIRM_WAIT)).isEqualTo(SENT);
            await().atMost(RECOVERY).until(() -> readBack.ready() == 1);
            assertThat(naive.settings()).containsEntry("publish.confirms", "false");
            assertThat(Metrics.of(naive)).containsEntry("confirmed", 0.0).containsEntry("unconfirmed", 0.0);
        }
    }

    @Test
    void whatIsNotMandatoryIsConfirmedAndLostWithoutARoute() throws Exception {
        try (ConfirmPublisher naive = publisher(RABBIT, topology, new PublishMode(true, false, true))) {
            naive.start();
            Broker.onChannel(
                    RABBIT,
                    channel -> channel.queueUnbind(QueueNames.QUEUE, QueueNames.EXCHANGE, QueueNames.ROUTING_KEY));
            assertThat(naive.publish(Broker.message(), CONFIRM_WAIT)).isEqualTo(CONFIRMED);
            assertThat(readBack.ready()).isZero();
        }
    }

    @Test
    void aTransientQueueIsGoneWithWhatItConfirmedWhenTheBrokerStartsAgain() throws Exception {
        QueueTopology inMemory =
                new QueueTopology(new QueueSettings(1_000_000, 100, QueueSettings.Type.CLASSIC_TRANSIENT));
        try (ConfirmPublisher naive = publisher(RABBIT, inMemory, new PublishMode(true, true, inMemory.durable()));
                QueueReadBack naiveReadBack =
                        new QueueReadBack(Broker.connections(RABBIT), inMemory, new PostsPerMessage())) {
            naive.start();
            assertThat(naive.publish(Broker.message(), CONFIRM_WAIT)).isEqualTo(CONFIRMED);
            assertThat(naiveReadBack.ready()).isEqualTo(1);
            assertThat(naiveReadBack.durability().level()).isEqualTo(Level.C);
            assertThat(naiveReadBack.durability().settings()).containsEntry(Durability.LOWERED_BY, "queue.durable");

            RABBIT.ctl("stop_app");
            RABBIT.ctl("start_app");

            await().atMost(RESTART).until(() -> naive.publish(Broker.message(), CONFIRM_WAIT) == CONFIRMED);
            assertThat(naiveReadBack.ready()).isEqualTo(1);
        } finally {
            Broker.forgetTopology(RABBIT);
        }
    }

    @Test
    void aQuorumQueueKeepsWhatItConfirmedWhenTheBrokerStartsAgain() {
        publisher.start();
        assertThat(publish()).isEqualTo(CONFIRMED);

        RABBIT.ctl("stop_app");
        RABBIT.ctl("start_app");

        await().atMost(RESTART).until(() -> publish() == CONFIRMED);
        await().atMost(RESTART).ignoreExceptions().until(() -> readBack.ready() == 2);
    }

    @Test
    void aFullQueueRefusesAndKeepsAllItConfirmed() {
        try (ConfirmPublisher toSmallQueue = publisher(RABBIT, new QueueTopology(new QueueSettings(20, 100)))) {
            toSmallQueue.start();

            List<PublishOutcome> outcomes = Stream.generate(() -> toSmallQueue.publish(Broker.message(), CONFIRM_WAIT))
                    .limit(40)
                    .toList();

            assertThat(outcomes).containsOnly(CONFIRMED, NACKED).contains(NACKED);
            long confirmed = outcomes.stream().filter(CONFIRMED::equals).count();
            await().atMost(RECOVERY)
                    .untilAsserted(() -> assertThat(readBack.messages()).isEqualTo(confirmed));
        }
    }

    /** A message may hold hundreds of posts, so a number of messages alone would bound no disk. */
    @Test
    void aQueueOfTooManyBytesRefusesToo() {
        QueueSettings small = new QueueSettings(1_000_000, DataSize.ofKilobytes(10), 100, QueueSettings.Type.QUORUM);
        try (ConfirmPublisher toSmallQueue = publisher(RABBIT, new QueueTopology(small))) {
            toSmallQueue.start();
            OutgoingMessage message = new OutgoingMessage("large", new byte[4 * 1024], Map.of());

            List<PublishOutcome> outcomes = Stream.generate(() -> toSmallQueue.publish(message, CONFIRM_WAIT))
                    .limit(30)
                    .toList();

            assertThat(outcomes).containsOnly(CONFIRMED, NACKED).contains(CONFIRMED, NACKED);
        }
    }

    @Test
    void aBlockedBrokerIsSaidAtOnceAndServesAgainWhenItCan() {
        publisher.start();
        try {
            RABBIT.ctl("set_vm_memory_high_watermark", "0.0001");
            await().atMost(RECOVERY).until(() -> publish() == BLOCKED);

            long startedAt = System.nanoTime();
            assertThat(publish()).isEqualTo(BLOCKED);
            assertThat(Duration.ofNanos(System.nanoTime() - startedAt)).isLessThan(Duration.ofMillis(100));
            assertThat(Metrics.of(publisher)).containsEntry("blocked", 1.0);
            assertThat(publisher.open()).isFalse();
        } finally {
            RABBIT.ctl("set_vm_memory_high_watermark", "0.6");
        }

        await().atMost(RECOVERY).until(() -> publish() == CONFIRMED);
    }

    @Test
    void aFrozenBrokerHoldsNobodyLongerThanTheConfirmWait() throws Exception {
        try (ConfirmPublisher toFrozen = publisher(RABBIT.through(proxy), new Grouping(1, 1, 256))) {
            toFrozen.start();
            proxy.freeze();
            // More than the socket's buffers hold, so that writing itself gets stuck.
            OutgoingMessage large = new OutgoingMessage("large", new byte[64 * 1024], Map.of());

            long startedAt = System.nanoTime();
            List<PublishOutcome> outcomes = concurrently(256, () -> toFrozen.publish(large, CONFIRM_WAIT));

            assertThat(Duration.ofNanos(System.nanoTime() - startedAt)).isLessThan(Duration.ofSeconds(4));
            assertThat(outcomes).containsOnly(UNCONFIRMED);
            proxy.heal();
            await().atMost(RECOVERY).until(() -> toFrozen.publish(Broker.message(), CONFIRM_WAIT) == CONFIRMED);
        }
    }

    @Test
    void aBrokenConnectionFailsWhatIsPendingAndIsReplaced() throws Exception {
        publisher.start();
        proxy.freeze();
        List<Future<PublishOutcome>> pending = start(100, () -> publisher.publish(Broker.message(), RECOVERY));
        await().atMost(RECOVERY)
                .until(() -> Objects.equals(Metrics.of(publisher).get("unconfirmed"), 100.0));

        proxy.cut();

        assertThat(outcomes(pending)).containsOnly(LOST);
        await().atMost(RECOVERY).until(() -> publish() == DISCONNECTED);
        proxy.heal();
        await().atMost(RECOVERY).until(() -> publish() == CONFIRMED);
    }

    @Test
    void connectionsClosedByTheBrokerUnderLoadLoseNothingConfirmed() throws Exception {
        publisher.start();
        List<Future<PublishOutcome>> load = start(2_000, this::publish);

        RABBIT.ctl("close_all_connections", "test");

        List<PublishOutcome> outcomes = outcomes(load);
        await().atMost(RECOVERY).until(() -> publish() == CONFIRMED);
        long confirmed = outcomes.stream().filter(CONFIRMED::equals).count() + 1;
        assertThat((long) postsInQueue()).isGreaterThanOrEqualTo(confirmed);
    }

    @Test
    void everyOneOfFiveThousandConcurrentMessagesIsConfirmed() throws Exception {
        publisher.start();

        assertThat(concurrently(5_000, this::publish)).hasSize(5_000).containsOnly(CONFIRMED);
        assertThat(postsInQueue()).isEqualTo(5_000);
        assertThat(Metrics.of(publisher)).containsEntry("unconfirmed", 0.0);
    }

    @Test
    void anAbsentBrokerEndsTheStartInBoundedTime() {
        proxy.cut();

        assertThatThrownBy(publisher::start)
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("no broker");
    }

    @Test
    void aQueueWithOtherSettingsEndsTheStartAtOnce() throws Exception {
        Broker.onChannel(RABBIT, channel -> channel.queueDeclare(QueueNames.QUEUE, true, false, false, null));

        assertThatThrownBy(publisher::start)
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("other settings");
    }

    private static ConfirmPublisher publisher(RabbitService rabbit, QueueTopology topology) {
        return publisher(rabbit, topology, PublishMode.SAFE);
    }

    private static ConfirmPublisher publisher(RabbitService rabbit, QueueTopology topology, PublishMode mode) {
        return new ConfirmPublisher(
                Broker.connections(rabbit),
                Broker.SETTINGS,
                topology,
                new PublisherRoute("test-publisher", QueueNames.EXCHANGE, GROUPING, mode),
                new PostsPerMessage());
    }

    private ConfirmPublisher publisher(RabbitService rabbit, Grouping grouping) {
        return new ConfirmPublisher(
                Broker.connections(rabbit),
                Broker.SETTINGS,
                topology,
                new PublisherRoute("test-publisher", QueueNames.EXCHANGE, grouping, PublishMode.SAFE),
                new PostsPerMessage());
    }

    private static int postsInQueue() throws Exception {
        return Broker.takeAll(RABBIT).stream().mapToInt(PostMessages::count).sum();
    }

    private PublishOutcome publish() {
        return publisher.publish(Broker.message(), CONFIRM_WAIT);
    }

    private List<PublishOutcome> concurrently(int times, Callable<PublishOutcome> task) throws Exception {
        return outcomes(start(times, task));
    }

    private List<Future<PublishOutcome>> start(int times, Callable<PublishOutcome> task) {
        return Stream.generate(() -> threads.submit(task)).limit(times).toList();
    }

    private static List<PublishOutcome> outcomes(List<Future<PublishOutcome>> futures)
            throws ExecutionException, InterruptedException {
        List<PublishOutcome> outcomes = new ArrayList<>();
        for (Future<PublishOutcome> future : futures) {
            outcomes.add(future.get());
        }
        return outcomes;
    }
}
