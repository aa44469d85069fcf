package io.writepath.json;

import io.writepath.post.Post;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.time.temporal.ChronoUnit;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** One line of a bulk load, as it came: a post that has its id and its moment already. */
record PostLine(
        @Nullable String id,
        @Nullable String content,
        @Nullable String createdAt) {

    private static final int YEAR_MIN = 1970;
    private static final int YEAR_MAX = 9999;

    /** The post it stands for. Throws with a field that is wrong. */
    Post toPost() {
        if (id == null || createdAt == null) {
            throw refused(id == null ? "id" : "createdAt", "must be given");
        }
        return new PostRequest(id, content).toPost(moment(createdAt));
    }

    /**
     * In milliseconds, as the contract has every moment: what is finer would be cut by one store and kept by another.
     */
    private static Instant moment(String text) {
        try {
            OffsetDateTime moment = OffsetDateTime.parse(text).withOffsetSameInstant(ZoneOffset.UTC);
            boolean ours = moment.getYear() >= YEAR_MIN && moment.getYear() <= YEAR_MAX;
            if (ours && moment.equals(moment.truncatedTo(ChronoUnit.MILLIS))) {
                return moment.toInstant();
            }
        } catch (DateTimeException none) {
            throw refused("createdAt", "must be a moment like 2026-01-02T03:04:05.678Z");
        }
        throw refused("createdAt", "must be in whole milliseconds and from %d to %d".formatted(YEAR_MIN, YEAR_MAX));
    }

    private static InvalidRequestException refused(String field, String why) {
        return new InvalidRequestException(List.of(new FieldProblem(field, why)));
    }
}
