package io.writepath.queue.rabbitmq;

import static org.assertj.core.api.Assertions.assertThat;

import com.rabbitmq.client.Channel;
import java.lang.reflect.Proxy;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class ConfirmChannelTests {

    private final CountDownLatch firstSent = new CountDownLatch(1);
    private final CountDownLatch secondTaken = new CountDownLatch(1);
    private final CountDownLatch firstSettled = new CountDownLatch(1);
    private final CountDownLatch secondRegistered = new CountDownLatch(1);
    private final CountDownLatch end = new CountDownLatch(1);
    private final AtomicLong numbered = new AtomicLong();
    private final AtomicLong sent = new AtomicLong();

    @Test
    void whatIsPublishedWhileTheChannelClosesIsSettledAtOnceToo() throws Exception {
        PublisherRoute route = new PublisherRoute("test", "exchange", new Grouping(1, 1, 2), PublishMode.SAFE);
        ConfirmChannel channel =
                new ConfirmChannel(slow(), route, new PublisherCounters(new PostsPerMessage()), () -> {});
        Publication first = new Publication(Broker.message());
        Publication second = new Publication(Broker.message());
        channel.offer(first);
        await(firstSent);
        channel.offer(second);
        await(secondTaken);
        CompletableFuture<Void> meanwhile = first.outcome()
                .thenRun(
                        () -> { // in the middle of the close
                            firstSettled.countDown();
                            await(secondRegistered);
                        });

        channel.close();

        assertThat(meanwhile).isCompleted();
        assertThat(second.outcome()).isCompletedWithValue(PublishOutcome.LOST);
        end.countDown();
    }

    /** Whose second message is numbered after the first one is settled, and is being sent until the end. */
    private Channel slow() {
        return (Channel) Proxy.newProxyInstance(
                Channel.class.getClassLoader(),
                new Class<?>[] {Channel.class},
                (self, method, given) -> switch (method.getName()) {
                    case "getNextPublishSeqNo" -> number();
                    case "basicPublish" -> send();
                    default -> null;
                });
    }

    private long number() {
        long number = numbered.incrementAndGet();
        if (number == 2) {
            secondTaken.countDown();
            await(firstSettled);
        }
        return number;
    }

    private @Nullable Object send() {
        if (sent.incrementAndGet() == 1) {
            firstSent.countDown();
        } else {
            secondRegistered.countDown();
            await(end);
        }
        return null;
    }

    private static void await(CountDownLatch latch) {
        try {
            assertThat(latch.await(10, TimeUnit.SECONDS)).isTrue();
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
