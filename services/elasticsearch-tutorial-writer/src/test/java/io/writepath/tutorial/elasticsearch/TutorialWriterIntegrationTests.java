package io.writepath.tutorial.elasticsearch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.writepath.post.CommitInspector;
import io.writepath.post.Durability.Level;
import io.writepath.post.Post;
import io.writepath.post.PostReader;
import io.writepath.post.PostWriter;
import io.writepath.post.StoreInspector;
import io.writepath.testsupport.BackingServices;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.SpringApplication;
import org.springframework.context.ConfigurableApplicationContext;

/** The running application sends one request a document, refreshes as it is told, and has Spring Boot's threads. */
class TutorialWriterIntegrationTests {

    private static final String NEVER_REFRESHED = "--writepath.elasticsearch.refresh-interval=-1";

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void aSearchFindsAPostAtOnceOnlyWhereEachWriteRefreshes(boolean refreshes) {
        try (ConfigurableApplicationContext tutorial =
                startEmpty(NEVER_REFRESHED, "--writepath.elasticsearch.refresh-each-write=" + refreshes)) {
            UUID id = UUID.randomUUID();
            write(tutorial, id, "found or not");
            assertThat(tutorial.getBean(StoreInspector.class)
                            .visible(List.of(id))
                            .contains(id))
                    .isEqualTo(refreshes);
        }
    }

    @Test
    void aRepetitionTakesThePlaceOfTheFirst() {
        try (ConfigurableApplicationContext tutorial = startEmpty()) {
            UUID id = UUID.randomUUID();
            write(tutorial, id, "first");
            write(tutorial, id, "second");
            assertThat(tutorial.getBean(StoreInspector.class).count()).isEqualTo(1);
            assertThat(tutorial.getBean(PostReader.class).find(id))
                    .hasValueSatisfying(found -> assertThat(found.content()).isEqualTo("second"));
        }
    }

    @Test
    void aWriteIsFlushedAndItsMomentKnown() {
        try (ConfigurableApplicationContext tutorial = startEmpty()) {
            UUID id = UUID.randomUUID();
            write(tutorial, id, "timed");
            assertThat(tutorial.getBean(StoreInspector.class).durability().level())
                    .isEqualTo(Level.A);
            List<UUID> known = new ArrayList<>();
            tutorial.getBean(CommitInspector.class).forEach((post, at) -> known.add(post));
            assertThat(known).contains(id);
        }
    }

    @Test
    void threadsAreSpringBootsOwn() {
        try (ConfigurableApplicationContext tutorial = startEmpty()) {
            assertThat(tutorial.getEnvironment().getProperty("spring.threads.virtual.enabled"))
                    .isNull();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"search-index=bigrams", "ids=auto"})
    void whatItDoesNotKnowIsRefusedRatherThanIgnored(String setting) {
        assertThatThrownBy(() -> start("--writepath.elasticsearch." + setting))
                .rootCause()
                .hasMessageContaining("ELASTICSEARCH_SEARCH_INDEX must be words and ELASTICSEARCH_IDS own");
    }

    private static void write(ConfigurableApplicationContext tutorial, UUID id, String content) {
        tutorial.getBean(PostWriter.class).write(new Post(id, content, Instant.ofEpochMilli(1_700_000_000_000L)));
    }

    private static ConfigurableApplicationContext startEmpty(String... settings) {
        ConfigurableApplicationContext tutorial = start(settings);
        Awaitility.await()
                .atMost(Duration.ofSeconds(30))
                .ignoreExceptions()
                .untilAsserted(tutorial.getBean(StoreInspector.class)::reset);
        return tutorial;
    }

    private static ConfigurableApplicationContext start(String... settings) {
        List<String> arguments = new ArrayList<>(List.of(
                "--server.address=127.0.0.1",
                "--server.port=0",
                "--management.server.port=0",
                "--writepath.elasticsearch.uris="
                        + BackingServices.elasticsearch().uri()));
        arguments.addAll(List.of(settings));
        return SpringApplication.run(TutorialWriter.class, arguments.toArray(String[]::new));
    }
}
