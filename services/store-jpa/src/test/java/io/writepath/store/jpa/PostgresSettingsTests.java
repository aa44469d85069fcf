package io.writepath.store.jpa;

import static io.writepath.testsupport.BoundSettings.assertRefused;

import java.util.Map;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

@ExtendWith(OutputCaptureExtension.class)
class PostgresSettingsTests {

    @EnableConfigurationProperties(PostgresSettings.class)
    static class Configuration {}

    @ParameterizedTest
    @CsvSource({
        "WRITEPATH_POSTGRES_SEARCH_INDEX, letters",
        "WRITEPATH_POSTGRES_WRITE_MODE, both",
        "WRITEPATH_POSTGRES_INSERTS_IN_FLIGHT, 0",
        "WRITEPATH_POSTGRES_INSERTS_IN_FLIGHT, 65"
    })
    void aBadValueEndsTheStartNamingItsVariable(String variable, String value, CapturedOutput output) {
        assertRefused(Configuration.class, Map.of(variable, value), output, "Origin: \"" + variable + '"');
    }
}
