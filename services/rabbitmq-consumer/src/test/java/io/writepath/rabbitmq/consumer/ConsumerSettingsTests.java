package io.writepath.rabbitmq.consumer;

import static io.writepath.testsupport.BoundSettings.assertRefused;

import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

@ExtendWith(OutputCaptureExtension.class)
class ConsumerSettingsTests {

    @EnableConfigurationProperties(ConsumerSettings.class)
    static class Configuration {}

    @Test
    void aPrefetchOfLessThanTwoBatchesEndsTheStart(CapturedOutput output) {
        assertRefused(
                Configuration.class,
                Map.of("WRITEPATH_CONSUMER_PREFETCH", "127"),
                output,
                "writepath.consumer.prefetch (127) must be at least twice writepath.consumer.batch-messages (64)");
    }
}
