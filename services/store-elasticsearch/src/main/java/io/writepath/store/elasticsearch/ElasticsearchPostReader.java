package io.writepath.store.elasticsearch;

import co.elastic.clients.elasticsearch.ElasticsearchClient;
import co.elastic.clients.elasticsearch._types.ElasticsearchException;
import co.elastic.clients.elasticsearch._types.query_dsl.Query;
import co.elastic.clients.elasticsearch.core.GetResponse;
import io.writepath.post.Post;
import io.writepath.post.PostCursor;
import io.writepath.post.PostPage;
import io.writepath.post.PostReader;
import io.writepath.store.elasticsearch.ElasticsearchSettings.Ids;
import java.io.IOException;
import java.util.Optional;
import java.util.UUID;

/**
 * Reads by id see a post from its 201 on; a search sees it only after the next refresh, by default within a second.
 * What a keyword finds is the affair of the {@link SearchIndex}.
 */
final class ElasticsearchPostReader implements PostReader {

    private final ElasticsearchClient client;
    private final SearchPages pages;
    private final SearchIndex index;
    private final Ids ids;

    ElasticsearchPostReader(ElasticsearchClient client, ElasticsearchSettings declared) {
        this.client = client;
        this.pages = new SearchPages(client);
        this.index = declared.searchIndex();
        this.ids = declared.ids();
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
    public PostPage search(String keyword, int page, int size) {
        return ask(() -> pages.page(holding(keyword), page * size, size));
    }

    @Override
    public PostPage searchAfter(String keyword, PostCursor after, int size) {
        return ask(() -> pages.after(holding(keyword), after, size));
    }

    /** Scores would be computed for nothing: the order is another. */
    private Sought holding(String keyword) {
        Query found = index.holding(keyword);
        return Sought.keyword(keyword, Query.of(any -> any.constantScore(unscored -> unscored.filter(found))));
    }

    private interface Search {
        PostPage run() throws IOException;
    }

    private static PostPage ask(Search search) {
        try {
            return search.run();
        } catch (IOException | ElasticsearchException failure) {
            throw Failures.unavailable(failure);
        }
    }
}
