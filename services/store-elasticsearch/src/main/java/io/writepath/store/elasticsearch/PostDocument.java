package io.writepath.store.elasticsearch;

import co.elastic.clients.elasticsearch.core.search.Hit;
import co.elastic.clients.json.JsonData;
import com.fasterxml.jackson.annotation.JsonInclude;
import io.writepath.post.Post;
import java.time.Instant;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * A post as Elasticsearch keeps it in {@code _source}; its id is the document's {@code _id} and nowhere else, unless
 * Elasticsearch makes the ids.
 *
 * @param createdAt epoch milliseconds, the mapping's format
 * @param postId only where Elasticsearch makes the {@code _id}
 */
@JsonInclude(JsonInclude.Include.NON_NULL)
record PostDocument(
        String content, long createdAt, @Nullable String postId) {

    static PostDocument of(Post post) {
        return new PostDocument(post.content(), post.createdAt().toEpochMilli(), null);
    }

    /** With the post's id as a field like any other. */
    static PostDocument withId(Post post) {
        return new PostDocument(
                post.content(), post.createdAt().toEpochMilli(), post.id().toString());
    }

    static Post toPost(Hit<PostDocument> hit) {
        return of(hit).toPost(idOf(hit));
    }

    static UUID idOf(Hit<PostDocument> hit) {
        String own = of(hit).postId();
        return UUID.fromString(Objects.requireNonNull(own == null ? hit.id() : own, "every hit has an _id"));
    }

    static PostDocument of(Map<String, JsonData> source) {
        return new PostDocument(
                field(source, "content").to(String.class),
                field(source, "createdAt").to(Long.class),
                null);
    }

    static PostDocument of(Hit<PostDocument> hit) {
        return Objects.requireNonNull(hit.source(), "the mapping keeps _source");
    }

    private static JsonData field(Map<String, JsonData> source, String name) {
        return Objects.requireNonNull(source.get(name), "every post has " + name);
    }

    Post toPost(UUID id) {
        return new Post(id, content, Instant.ofEpochMilli(createdAt));
    }
}
