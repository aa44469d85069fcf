package io.writepath.jpawriter;

import static org.assertj.core.api.Assertions.assertThat;

import io.writepath.testsupport.BackingServices;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.logging.LogLevel;
import org.springframework.boot.logging.LoggingSystem;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

@ExtendWith(OutputCaptureExtension.class)
class LogIntegrationTests {

    private static final String MARKER = "a-text-that-nobody-may-read-in-a-log";

    @Test
    void eachLineIsOneObjectAndNoneHasTheTextOfAPostThatIsRefused(CapturedOutput output) {
        try (RunningWriter writer =
                new RunningWriter(BackingServices.postgres(), "--logging.level.io.writepath=debug")) {
            String id = UUID.randomUUID().toString();
            assertThat(writer.post(post(id, MARKER)).statusCode()).isEqualTo(201);
            assertThat(writer.post(post(id, MARKER + "-another")).statusCode()).isEqualTo(409);
            assertThat(writer.post(post(id, MARKER.repeat(99))).statusCode()).isEqualTo(400);
            assertThat(writer.post(post(id, MARKER + "\\u0000")).statusCode()).isEqualTo(400);
            assertThat(writer.post("{\"" + MARKER).statusCode()).isEqualTo(400);
            assertThat(writer.post("{\"" + MARKER + "\": 1}").statusCode()).isEqualTo(400);
        } finally {
            LoggingSystem.get(getClass().getClassLoader()).setLogLevel("io.writepath", LogLevel.INFO);
        }
        JsonMapper json = new JsonMapper();
        assertThat(output.getOut().lines().filter(line -> !line.isBlank()).map(json::readTree))
                .anySatisfy(line -> assertThat(line.path("message").asString()).startsWith("Started "))
                .allMatch(JsonNode::isObject);
        assertThat(output).doesNotContain(MARKER);
    }

    private static String post(String id, String content) {
        return "{\"id\": \"%s\", \"content\": \"%s\"}".formatted(id, content);
    }
}
