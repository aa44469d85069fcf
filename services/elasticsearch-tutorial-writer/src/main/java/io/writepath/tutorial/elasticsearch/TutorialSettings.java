package io.writepath.tutorial.elasticsearch;

import java.util.List;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * How the Spring Boot defaults (baseline) write.
 *
 * @param uris {@code http://host:port}, separated by commas
 * @param refreshEachWrite whether a write refreshes its shard before it is answered, as a repository's {@code save}
 *     does
 * @param searchIndex words: anything else is refused rather than ignored
 * @param ids own: anything else is refused rather than ignored
 */
@ConfigurationProperties("writepath.elasticsearch")
record TutorialSettings(
        @DefaultValue List<String> uris,
        @DefaultValue("true") boolean refreshEachWrite,
        @DefaultValue("words") String searchIndex,
        @DefaultValue("own") String ids) {

    TutorialSettings {
        uris = List.copyOf(uris);
        if (!"words".equals(searchIndex) || !"own".equals(ids)) {
            throw new IllegalArgumentException(
                    "ELASTICSEARCH_SEARCH_INDEX must be words and ELASTICSEARCH_IDS own: a tutorial knows no others;"
                            + " they are '%s' and '%s'".formatted(searchIndex, ids));
        }
    }
}
