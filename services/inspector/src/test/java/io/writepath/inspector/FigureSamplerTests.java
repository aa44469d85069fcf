package io.writepath.inspector;

import static org.awaitility.Awaitility.await;

import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.writepath.post.SampledFigures;
import io.writepath.post.SampledFigures.Figure;
import io.writepath.post.StoreUnavailableException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

class FigureSamplerTests {

    private static final Duration SETTLED = Duration.ofSeconds(20);
    private static final Duration INTERVAL = Duration.ofMillis(20);
    private static final List<Figure> READING = List.of(new Figure("queue.ready", 3), waiting("Lock", 1));
    private static final String READY = "writepath.queue.ready[]";
    private static final String LOCK = "writepath.wait[tag(event=Lock)]";
    private static final String IO = "writepath.wait[tag(event=IO)]";

    private final SimpleMeterRegistry registry = new SimpleMeterRegistry();

    private static Figure waiting(String event, double sessions) {
        return new Figure("wait", Map.of("event", event), sessions);
    }

    @Test
    void showsTheLatestAnswerAndNothingThatIsNotInIt() {
        AtomicReference<List<Figure>> reading = new AtomicReference<>(READING);
        try (FigureSampler sampler = new FigureSampler(reading::get, INTERVAL)) {
            sampler.bindTo(registry);
            await().atMost(SETTLED).until(() -> shown().equals(Map.of(READY, 3.0, LOCK, 1.0)));
            reading.set(List.of(new Figure("queue.ready", 4), waiting("IO", 2)));
            await().atMost(SETTLED).until(() -> shown().equals(Map.of(READY, 4.0, IO, 2.0)));
        }
    }

    @Test
    void showsNothingWhereTheOtherSideFails() {
        AtomicReference<SampledFigures> asked = new AtomicReference<>(() -> READING);
        try (FigureSampler sampler = new FigureSampler(() -> asked.get().sample(), INTERVAL)) {
            sampler.bindTo(registry);
            await().atMost(SETTLED).until(() -> shown().containsKey(READY));
            asked.set(() -> {
                throw new StoreUnavailableException("down");
            });
            await().atMost(SETTLED).until(() -> shown().isEmpty());
            asked.set(() -> READING);
            await().atMost(SETTLED).until(() -> shown().containsKey(READY));
        }
    }

    @Test
    void asksASideThatHangsOnceAndAgainWhenItHasAnswered() throws Exception {
        CountDownLatch hangs = new CountDownLatch(1);
        AtomicInteger asked = new AtomicInteger();
        SampledFigures slow = () -> {
            if (asked.incrementAndGet() == 2) {
                awaitQuietly(hangs);
            }
            return READING;
        };
        try (FigureSampler sampler = new FigureSampler(slow, INTERVAL)) {
            sampler.bindTo(registry);
            await().atMost(SETTLED).until(() -> asked.get() == 2 && shown().isEmpty());
            await().during(INTERVAL.multipliedBy(5)).atMost(SETTLED).until(() -> asked.get() == 2);
            hangs.countDown();
            await().atMost(SETTLED).until(() -> shown().containsKey(READY));
        }
    }

    private Map<String, Double> shown() {
        return registry.getMeters().stream()
                .collect(Collectors.toMap(
                        FigureSamplerTests::name,
                        meter -> meter.measure().iterator().next().getValue()));
    }

    private static String name(Meter meter) {
        return meter.getId().getName() + meter.getId().getTags();
    }

    private static void awaitQuietly(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
