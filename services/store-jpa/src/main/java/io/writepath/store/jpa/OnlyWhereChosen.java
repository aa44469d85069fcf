package io.writepath.store.jpa;

import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.autoconfigure.AutoConfigurationImportFilter;
import org.springframework.boot.autoconfigure.AutoConfigurationMetadata;
import org.springframework.context.EnvironmentAware;
import org.springframework.core.env.Environment;

/**
 * Keeps Spring Boot's own JDBC and JPA set-up out of an application that stores elsewhere: the applications of the
 * queue path carry both stores, and Hibernate would wait for a PostgreSQL that is not there.
 */
class OnlyWhereChosen implements AutoConfigurationImportFilter, EnvironmentAware {

    private static final List<String> PREFIXES = List.of(
            "org.springframework.boot.jdbc.",
            "org.springframework.boot.hibernate.",
            "org.springframework.boot.data.jpa.",
            "org.springframework.boot.transaction.");

    private boolean chosen;

    @Override
    public void setEnvironment(Environment environment) {
        chosen = "jpa".equals(environment.getProperty("writepath.store"));
    }

    @Override
    public boolean[] match(@Nullable String[] names, AutoConfigurationMetadata metadata) {
        boolean[] matches = new boolean[names.length];
        for (int i = 0; i < names.length; i++) {
            String name = names[i];
            matches[i] = chosen || name == null || PREFIXES.stream().noneMatch(name::startsWith);
        }
        return matches;
    }
}
