package io.writepath.store.tutorial;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * The table of posts of the Spring Boot defaults (baseline).
 *
 * @param searchIndex none: anything else is refused rather than ignored
 */
@ConfigurationProperties("writepath.postgres")
record TutorialSettings(@DefaultValue("none") String searchIndex) {

    TutorialSettings {
        if (!"none".equals(searchIndex)) {
            throw new IllegalArgumentException(
                    "POSTGRES_SEARCH_INDEX must be none: a tutorial's table has no such index; it is '%s'"
                            .formatted(searchIndex));
        }
    }
}
