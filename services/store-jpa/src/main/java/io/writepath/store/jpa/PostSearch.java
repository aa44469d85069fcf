package io.writepath.store.jpa;

import io.writepath.post.Post;
import io.writepath.post.PostCursor;
import io.writepath.post.PostPage;
import io.writepath.store.jpa.SearchIndex.Condition;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.postgresql.PGStatement;
import org.springframework.jdbc.core.JdbcOperations;
import org.springframework.jdbc.core.PreparedStatementCreator;
import org.springframework.transaction.support.TransactionOperations;

/**
 * Searches, in statements that PostgreSQL plans for each keyword. The driver prepares on the server what it sees for
 * the fifth time, and soon all keywords would share one plan, made for a keyword that one post in two hundred holds: it
 * walks through an index for one that a third of them hold.
 */
class PostSearch {

    static final String COUNT = "SELECT count(*) FROM posts WHERE %s";
    static final String PAGE =
            "SELECT id, content, created_at FROM posts WHERE %s ORDER BY created_at DESC, id DESC LIMIT ? OFFSET ?";
    static final String AFTER = "SELECT id, content, created_at FROM posts WHERE %s AND (created_at, id) < (?, ?)"
            + " ORDER BY created_at DESC, id DESC LIMIT ?";

    private static final int NEVER = 0;

    private final JdbcOperations jdbc;
    private final TransactionOperations transaction;
    private final SearchIndex index;

    PostSearch(JdbcOperations jdbc, TransactionOperations transaction, SearchIndex index) {
        this.jdbc = jdbc;
        this.transaction = transaction;
        this.index = index;
    }

    PostPage page(String keyword, int page, int size) {
        Condition condition = index.holding(keyword);
        int before = page * size;
        return transaction.execute(status -> {
            List<Post> found = posts(PAGE, condition, size + 1, before);
            return PostPage.of(total(condition, before, found.size(), size), found, size);
        });
    }

    PostPage after(String keyword, PostCursor after, int size) {
        Condition condition = index.holding(keyword);
        OffsetDateTime createdAt = after.createdAt().atOffset(ZoneOffset.UTC);
        return transaction.execute(
                status -> PostPage.of(null, posts(AFTER, condition, createdAt, after.id(), size + 1), size));
    }

    /** A page that is not full tells by itself; else every post that holds the keyword is looked at once more. */
    private long total(Condition condition, long before, int found, int size) {
        if (found > size || (found == 0 && before > 0)) {
            return jdbc.query(statement(COUNT, condition), (row, number) -> row.getLong(1))
                    .getFirst();
        }
        return before + found;
    }

    private List<Post> posts(String select, Condition condition, Object... more) {
        return jdbc.query(statement(select, condition, more), PostSearch::post);
    }

    /** The statement with its condition put in, and what its own parameters are after those of the condition. */
    static PreparedStatementCreator statement(String select, Condition condition, Object... more) {
        List<Object> values = new ArrayList<>(condition.values());
        values.addAll(List.of(more));
        return connection -> {
            PreparedStatement statement = connection.prepareStatement(select.formatted(condition.sql()));
            statement.unwrap(PGStatement.class).setPrepareThreshold(NEVER);
            for (int i = 0; i < values.size(); i++) {
                statement.setObject(i + 1, values.get(i));
            }
            return statement;
        };
    }

    private static Post post(ResultSet row, int number) throws SQLException {
        Instant createdAt = row.getObject(3, OffsetDateTime.class).toInstant();
        return new Post(row.getObject(1, UUID.class), row.getString(2), createdAt);
    }
}
