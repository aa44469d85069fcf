package io.writepath.inspector;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.writepath.post.BoundedGauges;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class BoundedGaugesTests {

    private static final Duration LONG = Duration.ofSeconds(20);
    private static final Duration SHORT = Duration.ofMillis(20);
    private static final Map<String, Double> READING = Map.of("depth", 3.0);

    @Test
    void givesWhatTheOtherSideAnswers() {
        try (BoundedGauges gauges = new BoundedGauges("test", () -> READING, LONG)) {
            assertThat(gauges.read()).isEqualTo(READING);
            assertThat(gauges.read()).isEqualTo(READING);
        }
    }

    @Test
    void givesNothingWhereTheOtherSideFails() {
        try (BoundedGauges gauges = new BoundedGauges(
                "test",
                () -> {
                    throw new IllegalStateException("down");
                },
                LONG)) {
            assertThat(gauges.read()).isEmpty();
            assertThat(gauges.read()).isEmpty();
        }
    }

    @Test
    void asksASideThatHangsOnceAndAgainWhenItHasAnswered() {
        CountDownLatch hangs = new CountDownLatch(1);
        AtomicInteger asked = new AtomicInteger();
        try (BoundedGauges gauges = new BoundedGauges(
                "test",
                () -> {
                    asked.incrementAndGet();
                    awaitQuietly(hangs);
                    return READING;
                },
                SHORT)) {
            for (int second = 0; second < 5; second++) {
                assertThat(gauges.read()).isEmpty();
            }
            assertThat(asked).hasValue(1);
            hangs.countDown();
            await().atMost(LONG).untilAsserted(() -> assertThat(gauges.read()).isEqualTo(READING));
        }
    }

    @Test
    void givesNothingOnceItIsClosed() {
        BoundedGauges gauges = new BoundedGauges("test", () -> READING, LONG);
        gauges.close();
        assertThat(gauges.read()).isEmpty();
        assertThat(gauges.read()).isEmpty();
    }

    @Test
    void closesWhatItAsks() {
        Closeable asked = new Closeable();
        new BoundedGauges("test", asked, LONG).close();
        assertThat(asked.closed).isTrue();
    }

    private static final class Closeable implements io.writepath.post.Gauges, AutoCloseable {

        private boolean closed;

        @Override
        public Map<String, Double> read() {
            return READING;
        }

        @Override
        public void close() {
            closed = true;
        }
    }

    private static void awaitQuietly(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
