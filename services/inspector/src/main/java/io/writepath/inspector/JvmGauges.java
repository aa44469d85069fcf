package io.writepath.inspector;

import io.writepath.post.Gauges;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.util.List;
import java.util.Map;

/** How long this process stood still for its garbage collector, and how long it has run: their growths make a share. */
final class JvmGauges implements Gauges {

    private final List<GarbageCollectorMXBean> collectors = ManagementFactory.getGarbageCollectorMXBeans();

    @Override
    public Map<String, Double> read() {
        long collectingMs = collectors.stream()
                .mapToLong(collector -> Math.max(0, collector.getCollectionTime())) // -1: it does not count
                .sum();
        return Map.of(
                "jvm_gc_seconds", collectingMs / 1000.0,
                "jvm_seconds", ManagementFactory.getRuntimeMXBean().getUptime() / 1000.0);
    }
}
