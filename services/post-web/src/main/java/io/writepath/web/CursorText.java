package io.writepath.web;

import io.writepath.post.PostCursor;
import java.nio.ByteBuffer;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Base64;
import java.util.Optional;
import java.util.UUID;

/**
 * A place in a search as text: what a client is given as {@code next} and gives back as {@code after}. Moment and id in
 * base64url, in microseconds, because that is what PostgreSQL keeps.
 */
final class CursorText {

    private static final int BYTES = 3 * Long.BYTES;
    private static final int CHARACTERS = BYTES / 3 * 4;

    /** Posts are made in our time; what lies outside is somebody's invention, and PostgreSQL would fail at it. */
    private static final long MICROS_MAX =
            ChronoUnit.MICROS.between(Instant.EPOCH, Instant.parse("9999-12-31T23:59:59.999999Z"));

    private CursorText() {}

    static String of(PostCursor place) {
        byte[] bytes = ByteBuffer.allocate(BYTES)
                .putLong(ChronoUnit.MICROS.between(Instant.EPOCH, place.createdAt()))
                .putLong(place.id().getMostSignificantBits())
                .putLong(place.id().getLeastSignificantBits())
                .array();
        return Base64.getUrlEncoder().encodeToString(bytes);
    }

    /** Empty where the text is none of ours. */
    static Optional<PostCursor> parse(String text) {
        if (text.length() != CHARACTERS) {
            return Optional.empty();
        }
        try {
            byte[] bytes = Base64.getUrlDecoder().decode(text);
            return bytes.length == BYTES ? read(ByteBuffer.wrap(bytes)) : Optional.empty();
        } catch (IllegalArgumentException otherText) {
            return Optional.empty();
        }
    }

    private static Optional<PostCursor> read(ByteBuffer bytes) {
        long micros = bytes.getLong();
        if (micros < 0 || micros > MICROS_MAX) {
            return Optional.empty();
        }
        Instant createdAt = Instant.EPOCH.plus(micros, ChronoUnit.MICROS);
        return Optional.of(new PostCursor(createdAt, new UUID(bytes.getLong(), bytes.getLong())));
    }
}
