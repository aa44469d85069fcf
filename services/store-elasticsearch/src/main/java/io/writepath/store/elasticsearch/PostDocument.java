package io.writepath.store.elasticsearch;

import co.elastic.clients.elasticsearch.core.search.Hit;
import co.elastic.clients.json.JsonData;
import com.fasterxml.jackson.annotation.JsonInclude;
import io.writepath.post.Post;
import io.writepath.store.elasticsearch.ElasticsearchSettings.Ids;
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
 * @param bigrams of the content, only where those are searched, and on the way there: {@code _source} leaves them out
 */
@JsonInclude(JsonInclude.Include.NON_NULL)
record PostDocument(
        String content,
        long createdAt,
        @Nullable String postId,
        @Nullable String bigrams) {

    /** As it is sent to an index with these settings. */
    static PostDocument of(Post post, ElasticsearchSettings declared) {
        return new PostDocument(
                post.content(),
                post.createdAt().toEpochMilli(),
                declared.ids() == Ids.AUTO ? post.id().toString() : null,
                declared.searchIndex().cut(post.content()));
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
                null,
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
