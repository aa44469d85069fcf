package io.writepath.store.jpa;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.writepath.testsupport.BackingServices;
import io.writepath.testsupport.PostgresService;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;

class SchemaIntegrationTests {

    private static final String LOCK = "SELECT pg_advisory_lock(hashtext('writepath.schema'))";
    private static final String UNLOCK = "SELECT pg_advisory_unlock(hashtext('writepath.schema'))";

    /** Longer than the pool's sessions may be busy with one statement, and its sockets wait for an answer. */
    private static final String WAITS_LONG = """
            SELECT count(*) FROM pg_stat_activity
            WHERE wait_event = 'advisory' AND clock_timestamp() - query_start > interval '2500 milliseconds'
            """;

    @Test
    void anIndexMayTakeLongerToBuildThanARequestMayWait() throws Exception {
        PostgresService postgres = BackingServices.postgres();
        try (ExecutorService starting = Executors.newSingleThreadExecutor();
                Connection other =
                        DriverManager.getConnection(postgres.jdbcUrl(), postgres.username(), postgres.password());
                Statement statement = other.createStatement()) {
            statement.execute(LOCK);
            Future<RunningStore> started = starting.submit(() -> RunningStore.start("patient", SearchIndex.BIGRAM));
            await().atMost(Duration.ofSeconds(60)).until(() -> started.isDone() || number(statement, WAITS_LONG) == 1);
            statement.execute(UNLOCK);
            try (RunningStore store = started.get()) {
                store.inspector().assertReady();
            }
        }
    }

    private static long number(Statement statement, String query) throws SQLException {
        try (ResultSet rows = statement.executeQuery(query)) {
            assertThat(rows.next()).isTrue();
            return rows.getLong(1);
        }
    }
}
