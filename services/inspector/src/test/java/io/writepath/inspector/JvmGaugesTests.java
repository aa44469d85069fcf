package io.writepath.inspector;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;

class JvmGaugesTests {

    @Test
    void timeStoodStillGrowsWithCollectionsAndStaysBelowTheTimeRun() {
        JvmGauges gauges = new JvmGauges();
        Map<String, Double> before = gauges.read();
        await().atMost(Duration.ofSeconds(20)).until(() -> {
            System.gc();
            return value(gauges.read(), "jvm_gc_seconds") > value(before, "jvm_gc_seconds");
        });
        Map<String, Double> after = gauges.read();
        assertThat(value(after, "jvm_seconds")).isGreaterThan(value(before, "jvm_seconds"));
        assertThat(value(after, "jvm_gc_seconds")).isLessThan(value(after, "jvm_seconds"));
    }

    private static double value(Map<String, Double> gauges, String name) {
        return gauges.getOrDefault(name, Double.NaN);
    }
}
