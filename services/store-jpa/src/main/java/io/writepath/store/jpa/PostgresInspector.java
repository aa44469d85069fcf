package io.writepath.store.jpa;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.writepath.post.Durability;
import io.writepath.post.StoreInspector;
import io.writepath.post.StoreUnavailableException;
import io.writepath.post.StoredPost;
import io.writepath.post.VersionSource;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.OffsetDateTime;
import java.util.Collection;
import java.util.HashSet;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Asks PostgreSQL itself, over connections of its own: an inspection never takes one from the pool under test. */
final class PostgresInspector implements StoreInspector, VersionSource, AutoCloseable {

    /** As PostgreSQL shows every session that only looks. */
    static final String SESSION_NAME = "writepath-inspector";

    private static final String VISIBLE = "SELECT id FROM posts WHERE id = ANY(?)";
    private static final int FETCH_ROWS = 5_000;

    /** By what an index is over and not by its name, so that it is the truth whoever made it. */
    private static final String SEARCH_INDEX = """
            SELECT coalesce(max(CASE WHEN indexdef LIKE '%gin_trgm_ops%' THEN 'trigram'
              WHEN indexdef LIKE '%post_bigrams(%' THEN 'bigram' END), 'none')
            FROM pg_indexes WHERE schemaname = current_schema() AND tablename = 'posts'
            """;

    private static final String SETTINGS = """
            SELECT name, setting FROM pg_settings WHERE name IN ('fsync', 'synchronous_commit', 'full_page_writes',
              'track_commit_timestamp', 'wal_sync_method', 'synchronous_standby_names', 'max_wal_size',
              'checkpoint_timeout', 'commit_delay', 'shared_buffers', 'data_checksums')
            UNION ALL SELECT 'search_index', (%s)
            """.formatted(SEARCH_INDEX);

    private final HikariDataSource pool;
    private final SearchIndex declared;
    private final HikariDataSource connections;

    PostgresInspector(HikariDataSource pool, SearchIndex declared) {
        this.pool = pool;
        this.declared = declared;
        this.connections = new HikariDataSource(likeThePool(pool));
    }

    /** Same database, user and URL, so the same settings; patient, since a count or an export takes its time. */
    static HikariConfig likeThePool(HikariDataSource pool) {
        HikariConfig config = new HikariConfig();
        config.setPoolName("inspector");
        config.setJdbcUrl(pool.getJdbcUrl());
        config.setUsername(pool.getUsername());
        config.setPassword(pool.getPassword());
        config.setAutoCommit(false);
        config.setMaximumPoolSize(2);
        config.setMinimumIdle(0);
        config.setConnectionTimeout(2_000);
        config.setValidationTimeout(1_000);
        config.setInitializationFailTimeout(-1);
        config.addDataSourceProperty("socketTimeout", "60");
        config.addDataSourceProperty("connectTimeout", "2");
        config.addDataSourceProperty("ApplicationName", SESSION_NAME);
        return config;
    }

    @Override
    public void assertReady() {
        String obstacle = ask(connections, statement -> text(statement, """
                SELECT CASE WHEN pg_is_in_recovery() THEN 'it is recovering'
                  WHEN current_setting('transaction_read_only') = 'on' THEN 'it is read-only'
                  WHEN to_regclass('posts') IS NULL THEN 'it has no table of posts' END
                """));
        if (obstacle != null) {
            throw new StoreUnavailableException("PostgreSQL is not ready: " + obstacle);
        }
        String index = ask(connections, statement -> text(statement, SEARCH_INDEX));
        if (!declared.spelled().equals(index)) {
            throw new StoreUnavailableException(
                    "the search index is '%s', but POSTGRES_SEARCH_INDEX is '%s'; POST /inspector/load/finish builds it"
                            .formatted(index, declared.spelled()));
        }
    }

    @Override
    public long count() {
        String count = ask(connections, statement -> text(statement, "SELECT count(*) FROM posts"));
        return Long.parseLong(Objects.requireNonNull(count, "count(*) answers one row"));
    }

    @Override
    public void reset() {
        ask(connections, statement -> statement.execute("TRUNCATE posts"));
    }

    @Override
    public void forEach(Consumer<StoredPost> consumer) {
        ask(connections, statement -> {
            boolean timestamps = "on".equals(text(statement, "SHOW track_commit_timestamp"));
            statement.setFetchSize(FETCH_ROWS);
            String durableAt = timestamps ? "pg_xact_commit_timestamp(xmin)" : "NULL::timestamptz";
            try (ResultSet rows = statement.executeQuery("SELECT id, content, " + durableAt + " FROM posts")) {
                while (rows.next()) {
                    consumer.accept(storedPost(rows));
                }
            }
            return true;
        });
    }

    @Override
    public Set<UUID> visible(Collection<UUID> ids) {
        return ask(connections, statement -> {
            Connection connection = statement.getConnection();
            try (PreparedStatement search = connection.prepareStatement(VISIBLE)) {
                search.setArray(1, connection.createArrayOf("uuid", ids.toArray()));
                Set<UUID> found = new HashSet<>();
                try (ResultSet rows = search.executeQuery()) {
                    while (rows.next()) {
                        found.add(rows.getObject(1, UUID.class));
                    }
                }
                return found;
            }
        });
    }

    private static StoredPost storedPost(ResultSet row) throws SQLException {
        OffsetDateTime durableAt = row.getObject(3, OffsetDateTime.class);
        return new StoredPost(
                row.getObject(1, UUID.class), row.getString(2), durableAt == null ? null : durableAt.toInstant());
    }

    /** Asked over a connection of the pool under test: what its sessions run under is what a 201 promises. */
    @Override
    public Durability durability() {
        Map<String, String> settings = new TreeMap<>();
        ask(pool, statement -> {
            try (ResultSet rows = statement.executeQuery(SETTINGS)) {
                while (rows.next()) {
                    settings.put(rows.getString(1), rows.getString(2));
                }
            }
            return true;
        });
        boolean flushed = !"off".equals(settings.get("synchronous_commit"));
        if (flushed && "on".equals(settings.get("fsync"))) {
            return new Durability(Durability.Level.A, settings);
        }
        settings.put(Durability.LOWERED_BY, flushed ? "fsync" : "synchronous_commit");
        return new Durability(Durability.Level.B, settings);
    }

    @Override
    public Map<String, String> versions() {
        String version = ask(connections, statement -> text(statement, "SHOW server_version"));
        return Map.of("postgresql", String.valueOf(version).split(" ", 2)[0]);
    }

    @Override
    public void close() {
        connections.close();
    }

    /** Over a connection of the inspector's own. */
    <T extends @Nullable Object> T ask(Question<T> question) {
        return ask(connections, question);
    }

    interface Question<T extends @Nullable Object> {
        T ask(Statement statement) throws SQLException;
    }

    private static <T extends @Nullable Object> T ask(HikariDataSource source, Question<T> question) {
        try (Connection connection = source.getConnection();
                Statement statement = connection.createStatement()) {
            T answer = question.ask(statement);
            if (!connection.getAutoCommit()) {
                connection.commit();
            }
            return answer;
        } catch (SQLException failed) {
            throw new StoreUnavailableException("PostgreSQL does not answer: " + failed.getMessage(), failed);
        }
    }

    private static @Nullable String text(Statement statement, String query) throws SQLException {
        try (ResultSet rows = statement.executeQuery(query)) {
            return rows.next() ? rows.getString(1) : null;
        }
    }
}
