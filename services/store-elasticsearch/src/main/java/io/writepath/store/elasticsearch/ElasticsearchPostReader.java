package io.writepath.store.elasticsearch;

import co.elastic.clients.elasticsearch.ElasticsearchClient;
import co.elastic.clients.elasticsearch._types.ElasticsearchException;
import co.elastic.clients.elasticsearch._types.SortOrder;
import co.elastic.clients.elasticsearch.core.GetResponse;
import co.elastic.clients.elasticsearch.core.SearchRequest;
import co.elastic.clients.elasticsearch.core.SearchResponse;
import co.elastic.clients.elasticsearch.core.search.TotalHits;
import io.writepath.post.Post;
import io.writepath.post.PostPage;
import io.writepath.post.PostReader;
import io.writepath.post.StoreUnavailableException;
import io.writepath.store.elasticsearch.ElasticsearchSettings.Ids;
import java.io.IOException;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.UUID;

/**
 * Reads by id see a post from its 201 on; a search sees it only after the next refresh, by default within a second.
 *
 * <p>A search finds the words of the keyword next to each other and in order. Words are what the standard analyzer
 * makes of a text: split at spaces and punctuation, in lower case. Korean is not taken apart: 영화 finds 영화 and not 영화를,
 * where PostgreSQL's {@code LIKE} finds both, and a keyword of punctuation alone finds nothing.
 */
final class ElasticsearchPostReader implements PostReader {

    private final ElasticsearchClient client;
    private final Ids ids;

    ElasticsearchPostReader(ElasticsearchClient client, Ids ids) {
        this.client = client;
        this.ids = ids;
    }

    @Override
    public Optional<Post> find(UUID id) {
        return ids == Ids.AUTO ? findByField(id) : findByDocument(id);
    }

    /** Whoever leaves the ids to Elasticsearch has to search for a post: after a refresh, where it is not found. */
    private Optional<Post> findByField(UUID id) {
        try {
            Optional<Post> found = first(id);
            if (found.isEmpty()) {
                client.indices().refresh(refresh -> refresh.index(PostIndex.ALIAS));
                found = first(id);
            }
            return found;
        } catch (IOException | ElasticsearchException failure) {
            throw Failures.unavailable(failure);
        }
    }

    private Optional<Post> first(UUID id) throws IOException {
        return client
                .search(
                        search -> search.index(PostIndex.ALIAS)
                                .query(query -> query.term(
                                        term -> term.field(PostIndex.POST_ID).value(id.toString())))
                                .size(1),
                        PostDocument.class)
                .hits()
                .hits()
                .stream()
                .findFirst()
                .map(PostDocument::toPost);
    }

    private Optional<Post> findByDocument(UUID id) {
        try {
            GetResponse<PostDocument> found =
                    client.get(get -> get.index(PostIndex.ALIAS).id(id.toString()), PostDocument.class);
            return Optional.ofNullable(found.source()).map(document -> document.toPost(id));
        } catch (IOException | ElasticsearchException failure) {
            throw Failures.unavailable(failure);
        }
    }

    @Override
    public PostPage search(String keyword, int size) {
        try {
            SearchResponse<PostDocument> found = client.search(request(keyword, size), PostDocument.class);
            if (found.timedOut() || found.shards().failed().intValue() > 0) {
                throw new StoreUnavailableException("Elasticsearch could not search every shard");
            }
            List<Post> posts =
                    found.hits().hits().stream().map(PostDocument::toPost).toList();
            TotalHits total = Objects.requireNonNull(found.hits().total(), "the request asks for it");
            return new PostPage(total.value(), posts);
        } catch (IOException | ElasticsearchException failure) {
            throw Failures.unavailable(failure);
        }
    }

    private static SearchRequest request(String keyword, int size) {
        return SearchRequest.of(search -> search.index(PostIndex.ALIAS)
                .query(query -> query.constantScore(unscored -> unscored.filter(filter ->
                        filter.matchPhrase(phrase -> phrase.field("content").query(keyword)))))
                .sort(sort -> sort.field(field -> field.field("createdAt").order(SortOrder.Desc)))
                .trackTotalHits(total -> total.enabled(true))
                .size(size));
    }
}
