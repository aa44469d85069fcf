package io.writepath.store.jpa;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
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
import org.flywaydb.core.api.FlywayException;
import org.junit.jupiter.api.Test;

class SchemaIntegrationTests {

    /** Longer than the pool's sessions may be busy with one statement, and its sockets wait for an answer. */
    private static final String WAITS_LONG = """
            SELECT count(*) FROM pg_stat_activity
            WHERE wait_event = 'relation' AND clock_timestamp() - query_start > interval '2500 milliseconds'
            """;

    @Test
    void anIndexMayTakeLongerToBuildThanARequestMayWait() throws Exception {
        RunningStore.start(fresh("patient"), SearchIndex.NONE).close();
        try (ExecutorService starting = Executors.newSingleThreadExecutor();
                Connection locking = connect();
                Statement lock = locking.createStatement();
                Connection watching = connect();
                Statement watch = watching.createStatement()) {
            locking.setAutoCommit(false);
            lock.execute("LOCK TABLE patient.posts IN ACCESS EXCLUSIVE MODE");
            Future<RunningStore> started = starting.submit(() -> RunningStore.start("patient", SearchIndex.BIGRAM));
            await().atMost(Duration.ofSeconds(60)).until(() -> started.isDone() || number(watch, WAITS_LONG) == 1);
            locking.rollback();
            try (RunningStore store = started.get()) {
                store.inspector().assertReady();
            }
        }
    }

    @Test
    void eachStartBuildsTheIndexThatIsChosen() {
        String schema = fresh("chosen");
        for (SearchIndex index : new SearchIndex[] {
            SearchIndex.TRIGRAM, SearchIndex.BIGRAM, SearchIndex.NONE, SearchIndex.TRIGRAM, SearchIndex.TRIGRAM
        }) {
            try (RunningStore store = RunningStore.start(schema, index)) {
                store.inspector().assertReady();
            }
        }
    }

    @Test
    void aTableThatNoMigrationMadeIsRefused() throws Exception {
        String schema = fresh("foreign_table");
        try (Connection other = connect();
                Statement statement = other.createStatement()) {
            statement.execute("CREATE SCHEMA foreign_table");
            statement.execute("CREATE TABLE foreign_table.posts (number bigint)");
        }
        assertThatThrownBy(() -> RunningStore.start(schema, SearchIndex.NONE))
                .rootCause()
                .isInstanceOf(FlywayException.class)
                .hasMessageContaining("non-empty schema");
    }

    private static String fresh(String schema) {
        try (Connection connection = connect();
                Statement statement = connection.createStatement()) {
            statement.execute("DROP SCHEMA IF EXISTS " + schema + " CASCADE");
        } catch (SQLException failed) {
            throw new IllegalStateException(failed);
        }
        return schema;
    }

    private static Connection connect() throws SQLException {
        PostgresService postgres = BackingServices.postgres();
        return DriverManager.getConnection(postgres.jdbcUrl(), postgres.username(), postgres.password());
    }

    private static long number(Statement statement, String query) throws SQLException {
        try (ResultSet rows = statement.executeQuery(query)) {
            assertThat(rows.next()).isTrue();
            return rows.getLong(1);
        }
    }
}
