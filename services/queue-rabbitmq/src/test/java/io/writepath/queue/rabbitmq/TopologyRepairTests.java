package io.writepath.queue.rabbitmq;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import org.junit.jupiter.api.Test;
import org.springframework.amqp.AmqpIOException;

class TopologyRepairTests {

    private static final Duration BROKER_TELLS_CONSUMERS = Duration.ofMillis(400);
    private static final Duration LONGER_THAN_A_SECOND_ONE_WOULD_WAIT = Duration.ofSeconds(1);

    private final LongAdder repairs = new LongAdder();
    private final AtomicInteger declarations = new AtomicInteger();

    @Test
    void declaresOnlyWhenTheBrokerHadTimeToTellTheConsumersOfTheirLoss() {
        AtomicLong declaredAtNanos = new AtomicLong();
        TopologyRepair repair = new TopologyRepair("test", () -> declaredAtNanos.set(System.nanoTime()), repairs);
        long returnedAtNanos = System.nanoTime();

        repair.request();

        await().until(() -> repairs.sum() == 1);
        assertThat(Duration.ofNanos(declaredAtNanos.get() - returnedAtNanos)).isGreaterThan(BROKER_TELLS_CONSUMERS);
    }

    @Test
    void allThatComesBackMeanwhileIsOneRepair() {
        CountDownLatch declared = new CountDownLatch(1);
        TopologyRepair repair = new TopologyRepair("test", () -> declareWhen(declared), repairs);

        repair.request();
        await().until(() -> declarations.get() == 1);
        repair.request();

        await().during(LONGER_THAN_A_SECOND_ONE_WOULD_WAIT).until(() -> declarations.get() == 1);
        declared.countDown();
        await().until(() -> repairs.sum() == 1);
    }

    @Test
    void aRepairThatFailedIsTriedAgain() {
        TopologyRepair repair = new TopologyRepair("test", this::failOnce, repairs);

        await().until(() -> {
            repair.request();
            return repairs.sum() == 1;
        });
        assertThat(declarations).hasValue(2);
    }

    private void declareWhen(CountDownLatch declared) {
        declarations.incrementAndGet();
        await().until(() -> declared.getCount() == 0);
    }

    private void failOnce() {
        if (declarations.incrementAndGet() == 1) {
            throw new AmqpIOException(new IOException("planted"));
        }
    }
}
