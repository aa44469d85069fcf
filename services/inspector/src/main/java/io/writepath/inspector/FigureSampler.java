package io.writepath.inspector;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.MultiGauge;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.binder.MeterBinder;
import io.writepath.post.SampledFigures;
import io.writepath.post.SampledFigures.Figure;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * Asks for figures of another process at an interval and shows the latest as gauges. One that does not answer in time
 * has no figures until it does; while a question is open no second one is asked, and nobody else waits for it.
 */
final class FigureSampler implements MeterBinder, AutoCloseable {

    private static final String PREFIX = "writepath.";

    private final SampledFigures asked;
    private final Duration interval;
    private final ExecutorService asking;
    private final ScheduledExecutorService clock;
    private final Map<String, MultiGauge> gauges = new HashMap<>();
    private final Map<Key, Double> latest = new ConcurrentHashMap<>();
    private @Nullable Future<List<Figure>> open;

    /** @param interval also the time after which an answer is of no use any more */
    FigureSampler(SampledFigures asked, Duration interval) {
        this.asked = asked;
        this.interval = interval;
        ThreadFactory threads = Thread.ofPlatform().daemon().name("figures-", 0).factory();
        this.asking = Executors.newSingleThreadExecutor(threads);
        this.clock = Executors.newSingleThreadScheduledExecutor(threads);
    }

    /** Begins to ask. */
    @Override
    public void bindTo(MeterRegistry registry) {
        var unused = clock.scheduleAtFixedRate(
                () -> show(answer(), registry), 0, interval.toMillis(), TimeUnit.MILLISECONDS);
    }

    private List<Figure> answer() {
        Future<List<Figure>> question = open;
        if (question != null && !question.isDone()) {
            return List.of();
        }
        question = asking.submit(asked::sample);
        open = question;
        try {
            return question.get(interval.toMillis(), TimeUnit.MILLISECONDS);
        } catch (TimeoutException | ExecutionException unknown) {
            return List.of();
        } catch (InterruptedException closed) {
            Thread.currentThread().interrupt();
            return List.of();
        }
    }

    private void show(List<Figure> figures, MeterRegistry registry) {
        Map<Key, Double> values = new HashMap<>();
        figures.forEach(figure -> values.put(new Key(figure.name(), figure.tags()), figure.value()));
        latest.putAll(values);
        latest.keySet().retainAll(values.keySet());
        values.keySet()
                .forEach(key -> gauges.computeIfAbsent(
                        key.name(), name -> MultiGauge.builder(PREFIX + name).register(registry)));
        gauges.forEach((name, gauge) -> gauge.register(values.keySet().stream()
                .filter(key -> key.name().equals(name))
                .map(this::row)
                .toList()));
    }

    /** Reads the value when it is looked at, so that a gauge once shown is not made anew with each answer. */
    private MultiGauge.Row<?> row(Key key) {
        Tags tags = Tags.empty();
        for (Map.Entry<String, String> tag : key.tags().entrySet()) {
            tags = tags.and(tag.getKey(), tag.getValue());
        }
        return MultiGauge.Row.of(tags, () -> latest.getOrDefault(key, Double.NaN));
    }

    @Override
    public void close() {
        clock.shutdownNow();
        asking.shutdownNow();
    }

    private record Key(String name, Map<String, String> tags) {}
}
