package io.writepath.inspector;

import io.writepath.post.CommitInspector;
import io.writepath.post.StoreInspector;
import io.writepath.post.StoredPost;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.HexFormat;
import org.jspecify.annotations.Nullable;

/** Writes what the audit reads, line by line, so that a million rows need no more memory than one. */
final class CsvExport {

    private static final int HASH_BYTES = 8;
    private static final HexFormat HEX = HexFormat.of();

    private final Writer out;
    private final MessageDigest sha256;

    CsvExport(Writer out) {
        this.out = out;
        try {
            this.sha256 = MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException absent) {
            throw new IllegalStateException("every Java platform has SHA-256", absent);
        }
    }

    /** {@code content_hash}: the first 16 hex digits of the SHA-256 of the content in UTF-8. */
    void posts(StoreInspector store) {
        line("id,content_hash,durable_at_us");
        store.forEach(this::post);
    }

    void commits(Iterable<CommitInspector> logs) {
        line("id,durable_at_us");
        logs.forEach(log -> log.forEach((id, durableAt) -> line(id + "," + microseconds(durableAt))));
    }

    private void post(StoredPost post) {
        line(post.id() + "," + hash(post.content()) + "," + microseconds(post.durableAt()));
    }

    String hash(String content) {
        return HEX.formatHex(sha256.digest(content.getBytes(StandardCharsets.UTF_8)), 0, HASH_BYTES);
    }

    static String microseconds(@Nullable Instant moment) {
        return moment == null ? "" : Long.toString(ChronoUnit.MICROS.between(Instant.EPOCH, moment));
    }

    private void line(String line) {
        try {
            out.write(line);
            out.write('\n');
        } catch (IOException gone) {
            throw new UncheckedIOException(gone);
        }
    }
}
