package io.writepath.store.jpa;

import io.writepath.post.Post;
import io.writepath.post.PostBatchWriter;
import io.writepath.post.StoreUnavailableException;
import jakarta.persistence.PersistenceException;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.core.NestedExceptionUtils;
import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.core.JdbcOperations;
import org.springframework.transaction.TransactionException;
import org.springframework.transaction.support.TransactionOperations;

/** Writes a batch as one statement in one transaction: one wait for the disk, however many posts. */
class BatchInsert implements PostBatchWriter {

    private static final Logger log = LoggerFactory.getLogger(BatchInsert.class);

    /**
     * One statement with arrays instead of JDBC's batches: those cannot say which rows were new once they are
     * rewritten. Sorted, so that two consumers with the same redelivered posts wait for each other instead of
     * deadlocking.
     */
    private static final String INSERT = """
            INSERT INTO posts (id, content, created_at)
            SELECT id, content, created_at
            FROM unnest(?, ?, ?) WITH ORDINALITY AS batch (id, content, created_at, place)
            ORDER BY id, place
            ON CONFLICT (id) DO NOTHING
            RETURNING id
            """;

    private static final String SELECT = "SELECT id, content FROM posts WHERE id = ANY (?)";

    private final JdbcOperations jdbc;
    private final TransactionOperations transaction;
    private final PostgresAvailability postgres;

    BatchInsert(JdbcOperations jdbc, TransactionOperations transaction, PostgresAvailability postgres) {
        this.jdbc = jdbc;
        this.transaction = transaction;
        this.postgres = postgres;
    }

    @Override
    public List<Outcome> write(List<Post> posts) {
        if (posts.isEmpty()) {
            return List.of();
        }
        try {
            return postgres.ask(() -> transaction.execute(status -> writeTogether(posts)));
        } catch (DataAccessException | TransactionException | PersistenceException refused) {
            if (!PostgresAvailability.isBadData(
                    refused)) { // a missing table, a revoked right: no post's fault, so all wait
                throw new StoreUnavailableException("PostgreSQL refuses every post: " + message(refused), refused);
            }
            return posts.size() == 1 ? rejected(posts.getFirst(), refused) : writeHalves(posts);
        }
    }

    /** A refused batch holds a bad post somewhere: halving finds it in few steps and stores all others. */
    private List<Outcome> writeHalves(List<Post> posts) {
        int middle = posts.size() / 2;
        List<Outcome> first = write(posts.subList(0, middle));
        List<Outcome> second = write(posts.subList(middle, posts.size()));
        return Stream.concat(first.stream(), second.stream()).toList();
    }

    private static List<Outcome> rejected(Post post, RuntimeException refused) {
        log.warn("PostgreSQL refuses post {} for good: {}", post.id(), message(refused));
        return List.of(Outcome.REJECTED);
    }

    /** The database's own words, without the row that they are about: see logServerErrorDetail. */
    private static @Nullable String message(RuntimeException refused) {
        return NestedExceptionUtils.getMostSpecificCause(refused).getMessage();
    }

    private List<Outcome> writeTogether(List<Post> posts) {
        Set<UUID> inserted = new HashSet<>(jdbc.query(connection -> insert(connection, posts), BatchInsert::idOf));
        Map<UUID, String> contents = inserted.size() == posts.size() ? Map.of() : contents(posts);
        List<Outcome> outcomes = new ArrayList<>(posts.size());
        for (Post post : posts) {
            outcomes.add(outcome(post, inserted, contents));
        }
        return outcomes;
    }

    /**
     * The first post of an id takes it out of {@code inserted}; what follows under the same id compares as a repeat.
     */
    private static Outcome outcome(Post post, Set<UUID> inserted, Map<UUID, String> contents) {
        if (inserted.remove(post.id())) {
            return Outcome.STORED;
        }
        return post.content().equals(contents.get(post.id())) ? Outcome.ALREADY_STORED : Outcome.CONFLICTING;
    }

    private Map<UUID, String> contents(List<Post> posts) {
        Map<UUID, String> contents = new HashMap<>();
        jdbc.query(
                connection -> {
                    PreparedStatement select = connection.prepareStatement(SELECT);
                    select.setArray(1, connection.createArrayOf("uuid", ids(posts)));
                    return select;
                },
                row -> {
                    contents.put(row.getObject(1, UUID.class), row.getString(2));
                });
        return contents;
    }

    private static PreparedStatement insert(Connection connection, List<Post> posts) throws SQLException {
        PreparedStatement insert = connection.prepareStatement(INSERT);
        insert.setArray(1, connection.createArrayOf("uuid", ids(posts)));
        insert.setArray(
                2,
                connection.createArrayOf(
                        "text", posts.stream().map(Post::content).toArray()));
        insert.setArray(
                3,
                connection.createArrayOf(
                        "timestamptz",
                        posts.stream().map(post -> post.createdAt().toString()).toArray()));
        return insert;
    }

    private static Object[] ids(List<Post> posts) {
        return posts.stream().map(Post::id).toArray();
    }

    private static UUID idOf(ResultSet row, int rowNumber) throws SQLException {
        return row.getObject(1, UUID.class);
    }
}
