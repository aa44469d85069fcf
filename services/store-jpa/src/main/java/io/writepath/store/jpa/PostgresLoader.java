package io.writepath.store.jpa;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.writepath.post.LoadRefusedException;
import io.writepath.post.Post;
import io.writepath.post.PostLoader;
import io.writepath.post.StoreUnavailableException;
import java.io.IOException;
import java.io.StringReader;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import org.postgresql.PGConnection;
import org.springframework.jdbc.datasource.init.ResourceDatabasePopulator;
import org.springframework.jdbc.datasource.init.ScriptException;

/**
 * Fills the table through COPY, one transaction a call, while there is no search index; that is built once, at the end.
 */
final class PostgresLoader implements PostLoader, AutoCloseable {

    /** How long a statement may take that builds an index: over millions of texts, minutes. */
    static final Duration PATIENCE = Duration.ofHours(1);

    private static final String COPY = "COPY posts (id, content, created_at) FROM STDIN";
    private static final double NANOS_A_SECOND = 1e9;

    private final SearchIndex declared;
    private final HikariDataSource connections;

    PostgresLoader(HikariDataSource pool, SearchIndex declared) {
        this.declared = declared;
        HikariConfig config = PostgresInspector.likeThePool(pool);
        config.setPoolName("loader");
        config.setMaximumPoolSize(1);
        config.addDataSourceProperty("socketTimeout", Long.toString(PATIENCE.toSeconds()));
        config.setAutoCommit(true); // VACUUM cannot be part of a transaction
        this.connections = new HikariDataSource(config);
    }

    @Override
    public void begin() {
        with(connection -> run(SearchIndex.NONE, connection));
    }

    @Override
    public void load(List<Post> posts) {
        StringBuilder rows = new StringBuilder();
        posts.forEach(post -> append(post, rows));
        with(connection -> {
            try {
                connection.unwrap(PGConnection.class).getCopyAPI().copyIn(COPY, new StringReader(rows.toString()));
            } catch (IOException broken) {
                throw new SQLException("COPY broke off", broken);
            }
        });
    }

    @Override
    public Finished finish() {
        long start = System.nanoTime();
        with(connection -> run(declared, connection));
        long built = System.nanoTime();
        with(connection -> {
            try (Statement vacuum = connection.createStatement()) {
                vacuum.execute("VACUUM (ANALYZE) posts");
            }
        });
        Double buildSeconds = declared == SearchIndex.NONE ? null : (built - start) / NANOS_A_SECOND;
        return new Finished(buildSeconds, (System.nanoTime() - built) / NANOS_A_SECOND);
    }

    @Override
    public void close() {
        connections.close();
    }

    private static void append(Post post, StringBuilder rows) {
        rows.append(post.id()).append('\t');
        String content = post.content();
        for (int i = 0; i < content.length(); i++) {
            switch (content.charAt(i)) {
                case '\\' -> rows.append("\\\\");
                case '\t' -> rows.append("\\t");
                case '\n' -> rows.append("\\n");
                case '\r' -> rows.append("\\r");
                default -> rows.append(content.charAt(i));
            }
        }
        rows.append('\t').append(post.createdAt()).append('\n');
    }

    private static void run(SearchIndex index, Connection connection) {
        new ResourceDatabasePopulator(index.script()).populate(connection);
    }

    private interface Work {
        void with(Connection connection) throws SQLException;
    }

    private void with(Work work) {
        try (Connection connection = connections.getConnection()) {
            work.with(connection);
        } catch (ScriptException failed) {
            throw new StoreUnavailableException(
                    "PostgreSQL cannot build its search index: " + failed.getMessage(), failed);
        } catch (SQLException failed) {
            if (isBadData(failed)) {
                throw new LoadRefusedException("PostgreSQL refuses a post: " + failed.getMessage(), failed);
            }
            throw new StoreUnavailableException("PostgreSQL does not answer: " + failed.getMessage(), failed);
        }
    }

    /** An id that is taken, a content that breaks the table's rule. */
    private static boolean isBadData(SQLException failed) {
        String state = failed.getSQLState();
        return state != null && (state.startsWith("22") || state.startsWith("23"));
    }
}
