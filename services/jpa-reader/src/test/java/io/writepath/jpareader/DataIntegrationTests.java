package io.writepath.jpareader;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.writepath.testsupport.PostgresService;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.springframework.boot.logging.LoggingSystem;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** What is loaded at the start, and what an application that finds it does. */
class DataIntegrationTests {

    @Test
    void loadsAsManyRowsAsAreAskedForAndTellsThemWithTheirDigest() {
        PostgresService postgres = RunningReader.fresh("sizes");
        try (RunningReader reader = new RunningReader(
                postgres,
                "--writepath.reader.users=7",
                "--writepath.reader.points=30",
                "--writepath.reader.exhibitions=25")) {
            assertThat(reader.actuator("health/readiness").statusCode()).isEqualTo(200);
            assertThat(reader.actuator("info").body()).contains("\"postgresql\":\"");
            JsonNode data = data(reader);
            assertThat(data.get("rows"))
                    .hasToString("{\"users\":7,\"points\":30,\"artists\":3,\"exhibitions\":25,\"artworks\":250}");
            Map.of("users", 7L, "point", 30L, "artist", 3L, "exhibition", 25L, "artwork", 250L)
                    .forEach(
                            (table, rows) -> assertThat(RunningReader.number(postgres, "SELECT count(*) FROM " + table))
                                    .as(table)
                                    .isEqualTo(rows));
            assertThat(data.get("digest").asString()).matches("[0-9a-f]{64}");
        }
    }

    @Test
    void theSameSizesAreTheSameDataAndOthersAreNot() {
        try (RunningReader one = new RunningReader(RunningReader.fresh("one"));
                RunningReader same = new RunningReader(RunningReader.fresh("same"));
                RunningReader other = new RunningReader(RunningReader.fresh("other"), "--writepath.reader.users=49")) {
            assertThat(data(one)).isEqualTo(data(same));
            assertThat(data(one).get("digest")).isNotEqualTo(data(other).get("digest"));
        }
    }

    @Test
    void twoThatStartAtOnceLoadItOnceAndServeTheSame() throws Exception {
        PostgresService postgres = RunningReader.fresh("twice");
        System.setProperty(LoggingSystem.SYSTEM_PROPERTY, LoggingSystem.NONE); // the two share one Logback
        try (ExecutorService instances = Executors.newFixedThreadPool(2)) {
            Future<RunningReader> one = instances.submit(() -> new RunningReader(postgres));
            Future<RunningReader> other = instances.submit(() -> new RunningReader(postgres));
            try (RunningReader first = one.get();
                    RunningReader second = other.get()) {
                assertThat(data(first)).isEqualTo(data(second));
            }
        } finally {
            System.clearProperty(LoggingSystem.SYSTEM_PROPERTY);
        }
        assertThat(RunningReader.number(postgres, "SELECT count(*) FROM point")).isEqualTo(RunningReader.POINTS);
        String loads = "SELECT count(DISTINCT xmin::text) FROM point";
        assertThat(RunningReader.number(postgres, loads)).isOne();
    }

    @Test
    void dataThatWasChangedOrHasOtherSizesIsRefused() {
        PostgresService postgres = RunningReader.fresh("changed");
        new RunningReader(postgres).close();
        assertRefused(postgres, "--writepath.reader.points=999");
        RunningReader.run(postgres, "UPDATE point SET amount = amount + 1 WHERE id = 500");
        assertRefused(postgres);
        RunningReader.run(postgres, "UPDATE point SET amount = amount - 1 WHERE id = 500");
        new RunningReader(postgres).close();
    }

    private static void assertRefused(PostgresService postgres, String... settings) {
        assertThatThrownBy(() -> new RunningReader(postgres, settings))
                .rootCause()
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("SHA-256")
                .hasMessageContaining("empty database");
    }

    private static JsonNode data(RunningReader reader) {
        return new JsonMapper().readTree(reader.inspect("GET", "data").body());
    }
}
