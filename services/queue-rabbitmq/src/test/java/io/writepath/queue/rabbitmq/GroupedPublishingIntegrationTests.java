package io.writepath.queue.rabbitmq;

import static io.writepath.queue.rabbitmq.PublishOutcome.CONFIRMED;
import static io.writepath.queue.rabbitmq.PublishOutcome.LOST;
import static io.writepath.queue.rabbitmq.PublishOutcome.NACKED;
import static io.writepath.queue.rabbitmq.PublishOutcome.RETURNED;
import static io.writepath.queue.rabbitmq.PublishOutcome.UNCONFIRMED;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.writepath.post.Post;
import io.writepath.testsupport.BackingServices;
import io.writepath.testsupport.Metrics;
import io.writepath.testsupport.RabbitService;
import io.writepath.testsupport.TcpProxy;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Posts that arrive while a message is unconfirmed share the next one, and each has the answer of its message. */
class GroupedPublishingIntegrationTests {

    private static final Duration PATIENT = Duration.ofSeconds(10);
    private static final Duration IMPATIENT = Duration.ofMillis(200);
    private static final int BYTES_MAX = 128 * 1024;
    private static final Grouping GROUPING = new Grouping(256, BYTES_MAX, 1);
    private static final QueueSettings QUEUE = new QueueSettings(1_000_000, 100);
    private static final RabbitService RABBIT = BackingServices.rabbitmq();

    private final TcpProxy proxy = TcpProxy.to(RABBIT.host(), RABBIT.port());
    private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
    private ConfirmPublisher publisher;

    @BeforeEach
    void start() throws Exception {
        Broker.forgetTopology(RABBIT);
        publisher = started(GROUPING, QUEUE);
    }

    @AfterEach
    void close() {
        threads.shutdownNow();
        publisher.close();
        proxy.close();
    }

    @Test
    void postsThatArriveWhileAMessageIsUnconfirmedShareTheNextOne() throws Exception {
        List<Post> posts = posts(50);
        Future<PublishOutcome> first = sendOneThatIsNotConfirmed(PATIENT);
        List<Future<PublishOutcome>> others = publish(posts, PATIENT);
        awaitUnconfirmed(51);

        assertThat(others).noneMatch(Future::isDone);
        proxy.heal();

        assertThat(first.get()).isEqualTo(CONFIRMED);
        assertThat(outcomes(others)).hasSize(50).containsOnly(CONFIRMED);
        assertThat(Metrics.of(publisher))
                .containsEntry("messages_sent", 2.0)
                .containsEntry("posts_sent", 51.0)
                .containsEntry("confirmed", 51.0)
                .containsEntry("unconfirmed", 0.0);
        List<byte[]> messages = Broker.takeAll(RABBIT);
        assertThat(messages).hasSize(2);
        assertThat(PostMessages.lines(messages.getLast()).stream().map(PostMessages::decode))
                .containsExactlyInAnyOrderElementsOf(posts);
    }

    @Test
    void aLonePostGoesAtOnceInAMessageOfItsOwn() throws Exception {
        for (Post post : posts(3)) {
            assertThat(publisher.publish(PostMessages.encode(post), PATIENT)).isEqualTo(CONFIRMED);
        }

        assertThat(Broker.takeAll(RABBIT).stream().map(PostMessages::count)).containsExactly(1, 1, 1);
    }

    @Test
    void aMessageHasNoMorePostsThanItMay() throws Exception {
        publisher.close();
        publisher = started(new Grouping(10, BYTES_MAX, 1), QUEUE);
        Future<PublishOutcome> first = sendOneThatIsNotConfirmed(PATIENT);
        List<Future<PublishOutcome>> others = publish(posts(45), PATIENT);
        awaitUnconfirmed(46);

        proxy.heal();

        assertThat(first.get()).isEqualTo(CONFIRMED);
        assertThat(outcomes(others)).containsOnly(CONFIRMED);
        assertThat(Broker.takeAll(RABBIT).stream().map(PostMessages::count)).containsExactly(1, 10, 10, 10, 10, 5);
    }

    @Test
    void aMessageOfItsFullSizeTakesNoFurtherPost() throws Exception {
        int bytesMax = 2_000;
        int postBytesMax = 200;
        publisher.close();
        publisher = started(new Grouping(256, bytesMax, 1), QUEUE);
        Future<PublishOutcome> first = sendOneThatIsNotConfirmed(PATIENT);
        List<Future<PublishOutcome>> others = publish(posts(50), PATIENT);
        awaitUnconfirmed(51);

        proxy.heal();

        assertThat(first.get()).isEqualTo(CONFIRMED);
        assertThat(outcomes(others)).containsOnly(CONFIRMED);
        List<byte[]> messages = Broker.takeAll(RABBIT);
        assertThat(messages).hasSizeGreaterThan(2).allMatch(body -> body.length < bytesMax + postBytesMax);
        assertThat(messages.stream().mapToInt(PostMessages::count).sum()).isEqualTo(51);
    }

    @Test
    void aMessageWithoutARouteIsReturnedToEachOfItsPosts() throws Exception {
        Future<PublishOutcome> first = sendOneThatIsNotConfirmed(PATIENT);
        List<Future<PublishOutcome>> others = publish(posts(20), PATIENT);
        awaitUnconfirmed(21);
        Broker.onChannel(
                RABBIT, channel -> channel.queueUnbind(QueueNames.QUEUE, QueueNames.EXCHANGE, QueueNames.ROUTING_KEY));

        proxy.heal();

        assertThat(first.get()).isEqualTo(RETURNED);
        assertThat(outcomes(others)).hasSize(20).containsOnly(RETURNED);
        assertThat(Metrics.of(publisher)).containsEntry("returned", 21.0).containsEntry("confirmed", 0.0);
        assertThat(Broker.takeAll(RABBIT)).isEmpty();
    }

    @Test
    void aRefusedMessageIsRefusedToEachOfItsPosts() throws Exception {
        publisher.close();
        Broker.forgetTopology(RABBIT);
        publisher = started(GROUPING, new QueueSettings(1, 100));
        await().atMost(PATIENT).until(() -> publisher.publish(Broker.message(), PATIENT) == NACKED);
        double nacked = Objects.requireNonNull(Metrics.of(publisher).get("nacked"));
        Future<PublishOutcome> first = sendOneThatIsNotConfirmed(PATIENT);
        List<Future<PublishOutcome>> others = publish(posts(20), PATIENT);
        awaitUnconfirmed(21);

        proxy.heal();

        assertThat(first.get()).isEqualTo(NACKED);
        assertThat(outcomes(others)).hasSize(20).containsOnly(NACKED);
        assertThat(Metrics.of(publisher)).containsEntry("nacked", nacked + 21);
    }

    @Test
    void postsOfAMessageWhoseConnectionBreaksAreLostAndSoAreThoseBehindIt() throws Exception {
        Future<PublishOutcome> first = sendOneThatIsNotConfirmed(PATIENT);
        List<Future<PublishOutcome>> others = publish(posts(20), PATIENT);
        awaitUnconfirmed(21);

        proxy.cut();

        assertThat(first.get()).isEqualTo(LOST);
        assertThat(outcomes(others)).hasSize(20).containsOnly(LOST);
    }

    @Test
    void aPostWhoseSenderGaveUpBeforeItWasSentIsLeftOut() throws Exception {
        Future<PublishOutcome> first = sendOneThatIsNotConfirmed(PATIENT);
        List<Post> kept = posts(5);
        List<Future<PublishOutcome>> others = publish(kept, PATIENT);
        awaitUnconfirmed(6);
        assertThat(outcomes(publish(posts(7), IMPATIENT))).hasSize(7).containsOnly(UNCONFIRMED);

        proxy.heal();

        assertThat(first.get()).isEqualTo(CONFIRMED);
        assertThat(outcomes(others)).containsOnly(CONFIRMED);
        assertThat(PostMessages.lines(Broker.takeAll(RABBIT).getLast()).stream().map(PostMessages::decode))
                .containsExactlyInAnyOrderElementsOf(kept);
    }

    /** As of a broker that lost a message in a fault and goes on: its confirm never comes. */
    @Test
    void aMessageThatNobodyWaitsForAnyLongerHoldsUpNoOther() throws Exception {
        Future<PublishOutcome> first = sendOneThatIsNotConfirmed(IMPATIENT);
        assertThat(first.get()).isEqualTo(UNCONFIRMED);

        List<Future<PublishOutcome>> others = publish(posts(3), PATIENT);

        await().atMost(PATIENT).until(() -> sent("messages_sent") > 1);
        proxy.heal();
        assertThat(outcomes(others)).containsOnly(CONFIRMED);
    }

    private ConfirmPublisher started(Grouping grouping, QueueSettings queue) {
        ConfirmPublisher started = new ConfirmPublisher(
                Broker.connections(RABBIT.through(proxy)),
                Broker.SETTINGS,
                new QueueTopology(queue),
                new PublisherRoute("test-publisher", QueueNames.EXCHANGE, grouping, PublishMode.SAFE),
                new PostsPerMessage());
        started.start();
        return started;
    }

    /** The broker hears no more from now on, until the proxy heals. */
    private Future<PublishOutcome> sendOneThatIsNotConfirmed(Duration wait) {
        double before = sent("messages_sent");
        proxy.freeze();
        Future<PublishOutcome> outcome = threads.submit(() -> publisher.publish(Broker.message(), wait));
        await().atMost(PATIENT).until(() -> sent("messages_sent") == before + 1);
        return outcome;
    }

    private List<Future<PublishOutcome>> publish(List<Post> posts, Duration wait) {
        Stream<OutgoingMessage> messages = posts.stream().map(PostMessages::encode);
        return messages.map(message -> threads.submit(() -> publisher.publish(message, wait)))
                .toList();
    }

    private double sent(String metric) {
        return Objects.requireNonNull(Metrics.of(publisher).get(metric));
    }

    private void awaitUnconfirmed(int posts) {
        await().atMost(PATIENT).until(() -> Objects.equals(Metrics.of(publisher).get("unconfirmed"), (double) posts));
    }

    private static List<Post> posts(int count) {
        return IntStream.range(0, count)
                .mapToObj(i -> new Post(UUID.randomUUID(), "영화가 좋다 " + i, Instant.now()))
                .toList();
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
