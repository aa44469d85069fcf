package io.writepath.store.elasticsearch;

import co.elastic.clients.elasticsearch.core.search.Hit;
import co.elastic.clients.json.JsonData;
import io.writepath.post.Post;
import java.time.Instant;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;

/**
 * A post as Elasticsearch keeps it in {@code _source}; its id is the document's {@code _id} and nowhere else.
 *
 * @param createdAt epoch milliseconds, the mapping's format
 */
record PostDocument(String content, long createdAt) {

    static PostDocument of(Post post) {
        return new PostDocument(post.content(), post.createdAt().toEpochMilli());
    }

    static PostDocument of(Map<String, JsonData> source) {
        return new PostDocument(
                field(source, "content").to(String.class),
                field(source, "createdAt").to(Long.class));
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
