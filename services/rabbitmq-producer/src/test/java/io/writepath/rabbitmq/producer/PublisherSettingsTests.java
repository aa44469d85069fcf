package io.writepath.rabbitmq.producer;

import static io.writepath.testsupport.BoundSettings.assertRefused;

import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

@ExtendWith(OutputCaptureExtension.class)
class PublisherSettingsTests {

    @EnableConfigurationProperties(PublisherSettings.class)
    static class Configuration {}

    @Test
    void noMessageUnderWayEndsTheStart(CapturedOutput output) {
        assertRefused(
                Configuration.class,
                Map.of("WRITEPATH_PUBLISHER_MESSAGES_UNCONFIRMED", "0"),
                output,
                "Property: writepath.publisher.messagesUnconfirmed",
                "Value: \"0\"",
                "Origin: \"WRITEPATH_PUBLISHER_MESSAGES_UNCONFIRMED\"",
                "Reason: must be greater than or equal to 1");
    }
}
