package io.writepath.jpareader;

import io.writepath.jpareader.DataSet.Table;
import io.writepath.post.LoadedData;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.OutputStream;
import java.io.OutputStreamWriter;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.security.DigestOutputStream;
import java.security.MessageDigest;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.stream.Collectors;
import javax.sql.DataSource;
import org.postgresql.PGConnection;
import org.postgresql.copy.CopyManager;
import org.postgresql.copy.PGCopyOutputStream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Fills empty tables through COPY and proves that they hold what was sent. Of two instances that start at once, one
 * fills them; the other waits, and only proves it.
 */
final class DataLoader {

    private static final Logger log = LoggerFactory.getLogger(DataLoader.class);
    private static final long LOCK = 0x77726974; // known to every instance, and to nothing else

    private final DataSource pool;
    private final DataSet data;

    DataLoader(DataSource pool, DataSet data) {
        this.pool = pool;
        this.data = data;
    }

    /** Throws where the tables hold anything but this data. */
    LoadedData load() throws SQLException {
        try (Connection connection = pool.getConnection();
                Statement statement = connection.createStatement()) {
            connection.setAutoCommit(false);
            statement.execute("SELECT pg_advisory_xact_lock(" + LOCK + ")");
            boolean fill = isEmpty(statement);
            String sent = send(connection, fill);
            String held = held(connection.unwrap(PGConnection.class).getCopyAPI());
            if (!sent.equals(held)) {
                throw new IllegalStateException(
                        "The tables hold other rows than the settings under writepath.reader ask for: their SHA-256 is %s, not %s."
                                        .formatted(held, sent)
                                + " Start on an empty database, or with the settings that they were loaded with.");
            }
            connection.commit();
            if (fill) {
                settle(connection, statement);
            }
            log.info("the data is {} and has the SHA-256 {}", fill ? "loaded" : "there already", held);
            return new LoadedData(rows(), held);
        }
    }

    private Map<String, Long> rows() {
        Map<String, Long> rows = new LinkedHashMap<>();
        data.tables().forEach(table -> rows.put(table.title(), table.rows()));
        return rows;
    }

    private static boolean isEmpty(Statement statement) throws SQLException {
        try (ResultSet row = statement.executeQuery("SELECT NOT EXISTS (SELECT FROM users)")) {
            return row.next() && row.getBoolean(1);
        }
    }

    /** The digest of every row, each sent only where the tables are to be filled. */
    private String send(Connection connection, boolean fill) throws SQLException {
        MessageDigest sha256 = DataSet.sha256();
        for (Table table : data.tables()) {
            try (OutputStream copy = fill
                            ? new PGCopyOutputStream(connection.unwrap(PGConnection.class), copy(table, "FROM STDIN"))
                            : OutputStream.nullOutputStream();
                    Writer lines = new BufferedWriter(
                            new OutputStreamWriter(new DigestOutputStream(copy, sha256), StandardCharsets.US_ASCII))) {
                for (long id = 1; id <= table.rows(); id++) {
                    lines.write(table.row().apply(id));
                    lines.write('\n');
                }
            } catch (IOException broken) {
                throw new UncheckedIOException(broken);
            }
        }
        return HexFormat.of().formatHex(sha256.digest());
    }

    private String held(CopyManager copies) throws SQLException {
        MessageDigest sha256 = DataSet.sha256();
        OutputStream digesting = new DigestOutputStream(OutputStream.nullOutputStream(), sha256);
        for (Table table : data.tables()) {
            try {
                String ordered = "(SELECT %s FROM %s ORDER BY id)".formatted(table.columns(), table.name());
                copies.copyOut("COPY " + ordered + " TO STDOUT", digesting);
            } catch (IOException broken) {
                throw new UncheckedIOException(broken);
            }
        }
        return HexFormat.of().formatHex(sha256.digest());
    }

    private static String copy(Table table, String direction) {
        return "COPY %s (%s) %s".formatted(table.name(), table.columns(), direction);
    }

    /** Statistics, and no vacuum of PostgreSQL's own while requests are measured. */
    private void settle(Connection connection, Statement statement) throws SQLException {
        connection.setAutoCommit(true); // VACUUM cannot be part of a transaction
        String names = data.tables().stream().map(Table::name).collect(Collectors.joining(", "));
        statement.execute("VACUUM (ANALYZE) " + names);
    }
}
