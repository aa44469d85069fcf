package io.writepath.inspector;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;
import org.springframework.boot.EnvironmentPostProcessor;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.env.YamlPropertySourceLoader;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.core.io.ClassPathResource;

/**
 * Puts {@code writepath-defaults.yml} below every other source of settings, so that all applications run under the same
 * ones, none repeats them, and application.yml or the environment still overrides each. Then, but not for an
 * application as tutorials have it, {@code writepath-tuned.yml}.
 */
class SharedDefaults implements EnvironmentPostProcessor {

    private static final String DEFAULTS = "writepath-defaults.yml";
    private static final String TUNED = "writepath-tuned.yml";
    private static final String STYLE = "writepath.style";
    private static final List<String> STYLES = List.of("own", "tutorial");

    @Override
    public void postProcessEnvironment(ConfigurableEnvironment environment, SpringApplication application) {
        addLast(environment, DEFAULTS);
        String style = environment.getProperty(STYLE, "");
        if (!STYLES.contains(style)) {
            throw new IllegalArgumentException("%s must be one of %s, not '%s'".formatted(STYLE, STYLES, style));
        }
        if (!"tutorial".equals(style)) {
            addLast(environment, TUNED);
        }
    }

    private static void addLast(ConfigurableEnvironment environment, String file) {
        try {
            new YamlPropertySourceLoader()
                    .load(file, new ClassPathResource(file))
                    .forEach(environment.getPropertySources()::addLast);
        } catch (IOException unreadable) {
            throw new UncheckedIOException(unreadable);
        }
    }
}
