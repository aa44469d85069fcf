package io.writepath.json;

import io.writepath.post.Post;
import java.time.Clock;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.DeserializationContext;
import tools.jackson.databind.annotation.JsonDeserialize;
import tools.jackson.databind.deser.jdk.StringDeserializer;
import tools.jackson.databind.util.AccessPattern;

/** The body of {@code POST /api/posts}, as it came. */
public record PostRequest(
        @JsonDeserialize(using = AbsentOrString.class) @Nullable
        String id,

        @Nullable String content) {

    /** Of a body: 1,000 characters of 12 bytes each, as JSON escapes the longest, and room for the rest. */
    public static final int BYTES_MAX = 16 * 1024;

    private static final Pattern CANONICAL_UUID = Pattern.compile("[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}");

    /** The post it asks for, made now. */
    public Post toPost(Clock clock) {
        return toPost(clock.instant().truncatedTo(ChronoUnit.MILLIS));
    }

    /** Under the client's id or a new UUIDv7. Throws with every field that is wrong. */
    Post toPost(Instant createdAt) {
        List<FieldProblem> problems = new ArrayList<>();
        if (id != null && !CANONICAL_UUID.matcher(id).matches()) {
            problems.add(new FieldProblem("id", "must be a UUID in its canonical form"));
        }
        if (content == null) {
            problems.add(new FieldProblem("content", "must be given"));
        } else {
            TextRules.objection(content).ifPresent(why -> problems.add(new FieldProblem("content", why)));
        }
        if (content == null || !problems.isEmpty()) {
            throw new InvalidRequestException(problems);
        }
        return new Post(id == null ? UuidV7.at(createdAt) : UUID.fromString(id), content, createdAt);
    }

    /** Reads the id of a path, which must have the same form. */
    public static UUID parseId(String id) {
        if (!CANONICAL_UUID.matcher(id).matches()) {
            throw new InvalidRequestException(List.of(new FieldProblem("id", "must be a UUID in its canonical form")));
        }
        return UUID.fromString(id);
    }

    /** Reads a property that may be left out, but not be null. */
    static final class AbsentOrString extends StringDeserializer {

        @Override
        public @Nullable Object getNullValue(DeserializationContext context) {
            return context.reportInputMismatch(this, "null");
        }

        @Override
        public @Nullable Object getAbsentValue(DeserializationContext context) {
            return null;
        }

        @Override
        public AccessPattern getNullAccessPattern() {
            return AccessPattern.DYNAMIC;
        }
    }
}
