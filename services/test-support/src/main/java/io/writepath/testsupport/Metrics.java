package io.writepath.testsupport;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.binder.MeterBinder;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.util.HashMap;
import java.util.Map;

/** What something measures, as its metrics show it at this moment. */
public final class Metrics {

    private Metrics() {}

    /** By name as a run's samples have it: {@code writepath.in.flight} is {@code in_flight}. */
    public static Map<String, Double> of(MeterBinder measured) {
        SimpleMeterRegistry registry = new SimpleMeterRegistry();
        measured.bindTo(registry);
        Map<String, Double> values = new HashMap<>();
        for (Meter meter : registry.getMeters()) {
            String name =
                    meter.getId().getName().replaceFirst("^writepath\\.", "").replace('.', '_');
            switch (meter) {
                case Gauge gauge -> values.put(name, gauge.value());
                case FunctionCounter counter -> values.put(name, counter.count());
                default -> throw new IllegalArgumentException(name);
            }
        }
        return values;
    }
}
