package io.writepath.rabbitmq.consumer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.writepath.post.PostWriter;
import io.writepath.post.QueueInspector.Pending;
import io.writepath.testsupport.BackingServices;
import io.writepath.testsupport.PostgresService;
import io.writepath.testsupport.RabbitService;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The consumer as tutorials have it takes one message at a time, and prefetches what Spring AMQP does by default. */
class TutorialIntegrationTests {

    private static final Duration SOON = Duration.ofSeconds(60);
    private static final int PREFETCH = 250;
    private static final int SENT = 300;
    private static final RabbitService RABBIT = BackingServices.rabbitmq();
    private static final PostgresService POSTGRES = BackingServices.postgres().inSchema("tutorial");

    private Sender sender;

    /** Another test's queue of the same name is of another type. */
    @BeforeEach
    void makeRoom() throws Exception {
        sender = new Sender(RABBIT);
        sender.deleteQueue();
    }

    @AfterEach
    void leaveRoom() throws Exception {
        sender.deleteQueue();
        sender.close();
    }

    @Test
    void takesOneMessageAtATimeWith250InHand() throws Exception {
        CountDownLatch open = new CountDownLatch(1);
        AtomicInteger atOnce = new AtomicInteger();
        AtomicInteger mostAtOnce = new AtomicInteger();
        try (RunningConsumer tutorial = RunningConsumer.startTutorial(
                RABBIT, POSTGRES, writer -> closedUntil(open, writer, atOnce, mostAtOnce))) {
            await().atMost(SOON).ignoreExceptions().untilAsserted(tutorial.queue()::assertReady);
            tutorial.reset();
            sender.send(Sender.posts(SENT));
            await().atMost(SOON).untilAsserted(() -> assertThat(tutorial.queue().pending())
                    .isEqualTo(new Pending(SENT - PREFETCH, PREFETCH, 0)));
            assertThat(tutorial.queue().durability().settings()).containsEntry("queue.x-queue-type", "classic");

            open.countDown();

            await().atMost(SOON).until(() -> tutorial.hasDrainedTo(SENT));
            assertThat(mostAtOnce).hasValue(1);
            tutorial.reset();
            assertThat(tutorial.store().count()).isZero();
        }
    }

    private static PostWriter closedUntil(
            CountDownLatch open, PostWriter writer, AtomicInteger atOnce, AtomicInteger mostAtOnce) {
        return post -> {
            mostAtOnce.accumulateAndGet(atOnce.incrementAndGet(), Math::max);
            try {
                open.await();
                return writer.write(post);
            } catch (InterruptedException interrupted) {
                throw new IllegalStateException(interrupted);
            } finally {
                atOnce.decrementAndGet();
            }
        };
    }
}
