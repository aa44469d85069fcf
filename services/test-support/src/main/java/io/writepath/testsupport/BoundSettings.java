package io.writepath.testsupport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Map;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.core.env.SystemEnvironmentPropertySource;

/** Starts an application that has settings and nothing else, under environment variables of a test's own. */
public final class BoundSettings {

    private BoundSettings() {}

    /** The started application; the caller closes it. */
    public static ConfigurableApplicationContext start(Class<?> configuration, Map<String, Object> variables) {
        return new SpringApplicationBuilder(configuration)
                .web(WebApplicationType.NONE)
                .initializers(context -> context.getEnvironment()
                        .getPropertySources()
                        .addFirst(new SystemEnvironmentPropertySource("test-systemEnvironment", variables)))
                .run("--logging.structured.format.console="); // as text, which is what a test looks for
    }

    /** Asserts that the start ends with an analysis that says all of this. */
    public static void assertRefused(
            Class<?> configuration, Map<String, Object> variables, CapturedOutput output, String... said) {
        assertThatThrownBy(() -> start(configuration, variables)).isNotNull();
        assertThat(output).contains("APPLICATION FAILED TO START").contains(said);
    }
}
