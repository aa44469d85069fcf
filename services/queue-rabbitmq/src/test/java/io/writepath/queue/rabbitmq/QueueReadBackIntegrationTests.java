package io.writepath.queue.rabbitmq;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.writepath.post.Durability;
import io.writepath.post.Durability.Level;
import io.writepath.post.SampledFigures.Figure;
import io.writepath.testsupport.BackingServices;
import io.writepath.testsupport.RabbitService;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class QueueReadBackIntegrationTests {

    private static final Duration SETTLED = Duration.ofSeconds(5);
    private static final RabbitService RABBIT = BackingServices.rabbitmq();

    private final QueueTopology topology = new QueueTopology(new QueueSettings(1_000_000, 100));
    private final PostsPerMessage perMessage = new PostsPerMessage();
    private final QueueReadBack readBack = new QueueReadBack(Broker.connections(RABBIT), topology, perMessage);

    @BeforeEach
    void forgetTopology() throws Exception {
        Broker.forgetTopology(RABBIT);
    }

    @AfterEach
    void close() {
        readBack.close();
    }

    @Test
    void theDeclaredQueueIsOnDiskBeforeTheConfirm() throws Exception {
        Broker.declare(RABBIT, topology);

        Durability durability = readBack.durability();

        assertThat(durability.level()).isEqualTo(Level.A);
        assertThat(durability.settings())
                .containsEntry("queue.x-queue-type", "quorum")
                .containsEntry("queue.durable", "true")
                .containsEntry("queue.x-overflow", "reject-publish")
                .containsKey("broker.version");
    }

    @Test
    void aDurableClassicQueueIsWeaker() throws Exception {
        declare(true);

        Durability durability = readBack.durability();

        assertThat(durability.level()).isEqualTo(Level.B);
        assertThat(durability.settings().get("queue.refused")).contains("inequivalent arg");
    }

    @Test
    void aClassicQueueThatWasAskedForIsNotFlushedBeforeTheConfirm() throws Exception {
        QueueTopology classic = new QueueTopology(new QueueSettings(1_000_000, 100, QueueSettings.Type.CLASSIC_V2));
        Broker.declare(RABBIT, classic);

        try (QueueReadBack asked = new QueueReadBack(Broker.connections(RABBIT), classic, perMessage)) {
            Durability durability = asked.durability();

            assertThat(durability.level()).isEqualTo(Level.B);
            assertThat(durability.settings())
                    .containsEntry("queue.durable", "true")
                    .containsEntry("queue.x-queue-version", "2")
                    .containsEntry(Durability.LOWERED_BY, "queue.x-queue-type");
        }
    }

    @Test
    void aTransientQueueKeepsNothing() throws Exception {
        declare(false);

        assertThat(readBack.durability().level()).isEqualTo(Level.C);
    }

    @Test
    void aMissingQueueKeepsNothingAndIsNotMadeByAsking() {
        assertThat(readBack.durability().level()).isEqualTo(Level.C);
        assertThat(readBack.durability().settings().get("queue.refused")).contains("NOT_FOUND");
    }

    @Test
    void depthsAndPurgeSpeakOfBothQueues() throws Exception {
        Broker.declare(RABBIT, topology);
        Broker.onChannel(RABBIT, channel -> {
            channel.confirmSelect();
            for (int i = 0; i < 3; i++) {
                channel.basicPublish(QueueNames.EXCHANGE, QueueNames.ROUTING_KEY, null, new byte[0]);
            }
            channel.basicPublish(QueueNames.DEAD_LETTER_EXCHANGE, QueueNames.ROUTING_KEY, null, new byte[0]);
            channel.waitForConfirmsOrDie(SETTLED.toMillis());
        });

        perMessage.add(20);

        await().atMost(SETTLED).untilAsserted(() -> assertThat(readBack.sample())
                .containsExactly(
                        new Figure("queue.ready", 60), new Figure("queue.messages", 3), new Figure("queue.dead", 1)));
        assertThat(readBack.ready()).isEqualTo(60);
        readBack.purge();
        await().atMost(SETTLED).untilAsserted(() -> assertThat(readBack.sample())
                .containsExactly(
                        new Figure("queue.ready", 0), new Figure("queue.messages", 0), new Figure("queue.dead", 0)));
        assertThat(readBack.ready()).isZero();
    }

    private static void declare(boolean durable) throws Exception {
        Broker.onChannel(RABBIT, channel -> channel.queueDeclare(QueueNames.QUEUE, durable, false, false, null));
    }
}
