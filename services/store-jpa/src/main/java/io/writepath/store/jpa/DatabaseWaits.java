package io.writepath.store.jpa;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.writepath.post.SampledFigures;
import io.writepath.post.StoreUnavailableException;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * What the sessions that write wait for, as PostgreSQL sees them at this moment. Asked over a connection of its own, of
 * which neither the pool under test nor an audit takes anything; the inspector's sessions are not counted.
 */
final class DatabaseWaits implements SampledFigures, AutoCloseable {

    /** A session that waits for its client waits for nothing inside the database. */
    private static final String SESSIONS = """
            SELECT state = 'active',
              CASE WHEN wait_event_type NOT IN ('Client', 'Activity') THEN wait_event_type || '.' || wait_event END,
              count(*)
            FROM pg_stat_activity
            WHERE backend_type = 'client backend' AND datname = current_database() AND state <> 'idle'
              AND application_name <> ?
            GROUP BY 1, 2
            """.replace("?", "'" + PostgresInspector.SESSION_NAME + "'");

    private final HikariDataSource connection;

    DatabaseWaits(HikariDataSource pool) {
        HikariConfig config = PostgresInspector.likeThePool(pool);
        config.setPoolName("waits");
        config.setMaximumPoolSize(1);
        config.setAutoCommit(true);
        config.setConnectionTimeout(500);
        config.setValidationTimeout(250);
        config.addDataSourceProperty("socketTimeout", "1"); // a reading comes each second
        config.addDataSourceProperty("connectTimeout", "1");
        this.connection = new HikariDataSource(config);
    }

    @Override
    public List<Figure> sample() {
        double active = 0;
        double waiting = 0;
        double between = 0;
        List<Figure> figures = new ArrayList<>();
        try (Connection asking = connection.getConnection();
                Statement statement = asking.createStatement();
                ResultSet rows = statement.executeQuery(SESSIONS)) {
            while (rows.next()) {
                String event = rows.getString(2);
                double sessions = rows.getDouble(3);
                if (!rows.getBoolean(1)) {
                    between += sessions;
                    continue;
                }
                active += sessions;
                if (event != null) {
                    waiting += sessions;
                    figures.add(new Figure("database.wait", Map.of("event", event), sessions));
                }
            }
        } catch (SQLException failed) {
            throw new StoreUnavailableException("PostgreSQL does not answer: " + failed.getMessage(), failed);
        }
        figures.add(new Figure("database.active", active));
        figures.add(new Figure("database.waiting", waiting));
        figures.add(new Figure("database.between.statements", between));
        return figures;
    }

    @Override
    public void close() {
        connection.close();
    }
}
