package io.writepath.web;

import static io.writepath.testsupport.BoundSettings.assertRefused;

import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

@ExtendWith(OutputCaptureExtension.class)
class WebSettingsTests {

    @EnableConfigurationProperties(WebSettings.class)
    static class Configuration {}

    @Test
    void aLimitThatWouldAdmitNothingEndsTheStart(CapturedOutput output) {
        assertRefused(
                Configuration.class,
                Map.of("WRITEPATH_IN_FLIGHT_MAX", "0"),
                output,
                "Property: writepath.inFlightMax",
                "Value: \"0\"",
                "Origin: \"WRITEPATH_IN_FLIGHT_MAX\"",
                "Reason: must be greater than or equal to 1");
    }
}
