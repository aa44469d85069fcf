package io.writepath.inspector;

import java.io.IOException;
import java.io.UncheckedIOException;
import org.springframework.boot.EnvironmentPostProcessor;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.env.YamlPropertySourceLoader;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.core.io.ClassPathResource;

/**
 * Puts {@code writepath-defaults.yml} below every other source of settings, so that all applications run under the same
 * ones, none repeats them, and application.yml or the environment still overrides each.
 */
class SharedDefaults implements EnvironmentPostProcessor {

    private static final String DEFAULTS = "writepath-defaults.yml";

    @Override
    public void postProcessEnvironment(ConfigurableEnvironment environment, SpringApplication application) {
        try {
            new YamlPropertySourceLoader()
                    .load(DEFAULTS, new ClassPathResource(DEFAULTS))
                    .forEach(environment.getPropertySources()::addLast);
        } catch (IOException unreadable) {
            throw new UncheckedIOException(unreadable);
        }
    }
}
