package io.writepath.post;

import java.time.Instant;
import java.util.Comparator;
import java.util.UUID;

/**
 * A place in the order of a search, which is the natural order of places: newest first and, within one moment, ids from
 * the highest down. Ids compare as PostgreSQL compares them, by their bits without a sign; {@link UUID#compareTo} has
 * one.
 */
public record PostCursor(Instant createdAt, UUID id) implements Comparable<PostCursor> {

    private static final Comparator<PostCursor> OLDEST_FIRST = Comparator.comparing(PostCursor::createdAt)
            .thenComparing(place -> place.id().getMostSignificantBits(), Long::compareUnsigned)
            .thenComparing(place -> place.id().getLeastSignificantBits(), Long::compareUnsigned);

    /** The place at which this post stands. */
    public static PostCursor of(Post post) {
        return new PostCursor(post.createdAt(), post.id());
    }

    @Override
    public int compareTo(PostCursor other) {
        return OLDEST_FIRST.compare(other, this);
    }
}
