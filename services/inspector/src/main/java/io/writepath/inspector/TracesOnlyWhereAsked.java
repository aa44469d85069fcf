package io.writepath.inspector;

import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.autoconfigure.AutoConfigurationImportFilter;
import org.springframework.boot.autoconfigure.AutoConfigurationMetadata;
import org.springframework.context.EnvironmentAware;
import org.springframework.core.env.Environment;

/**
 * Keeps OpenTelemetry out of an application whose traces nobody receives: no handler, no thread, no cost of a write.
 */
class TracesOnlyWhereAsked implements AutoConfigurationImportFilter, EnvironmentAware {

    private static final List<String> PREFIXES =
            List.of("org.springframework.boot.micrometer.tracing.", "org.springframework.boot.opentelemetry.");

    private boolean asked;

    @Override
    public void setEnvironment(Environment environment) {
        asked = !"none".equals(environment.getProperty("writepath.traces", "none"));
    }

    @Override
    public boolean[] match(@Nullable String[] names, AutoConfigurationMetadata metadata) {
        boolean[] matches = new boolean[names.length];
        for (int i = 0; i < names.length; i++) {
            String name = names[i];
            matches[i] = asked || name == null || PREFIXES.stream().noneMatch(name::startsWith);
        }
        return matches;
    }
}
