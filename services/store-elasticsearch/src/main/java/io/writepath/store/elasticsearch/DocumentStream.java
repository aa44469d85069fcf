package io.writepath.store.elasticsearch;

import co.elastic.clients.elasticsearch.ElasticsearchClient;
import co.elastic.clients.elasticsearch._types.Time;
import co.elastic.clients.elasticsearch._types.query_dsl.Query;
import co.elastic.clients.elasticsearch.core.SearchRequest;
import co.elastic.clients.elasticsearch.core.SearchResponse;
import co.elastic.clients.elasticsearch.core.search.Hit;
import io.writepath.post.StoreUnavailableException;
import java.io.IOException;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Every document that a query finds, in no order, as of one moment: however many there are, a page at a time. */
final class DocumentStream {

    private static final int PAGE_DOCUMENTS = 10_000;
    private static final Time KEEP_ALIVE = Time.of(time -> time.time("1m"));

    private final ElasticsearchClient client;

    DocumentStream(ElasticsearchClient client) {
        this.client = client;
    }

    void forEach(Sought sought, Consumer<Hit<PostDocument>> consumer) throws IOException {
        String pit = client.openPointInTime(open ->
                        open.index(PostIndex.ALIAS).preference(sought.copies()).keepAlive(KEEP_ALIVE))
                .id();
        try {
            List<Hit<PostDocument>> hits = page(pit, sought.query(), null);
            while (!hits.isEmpty()) {
                hits.forEach(consumer);
                hits = hits.size() < PAGE_DOCUMENTS ? List.of() : page(pit, sought.query(), hits.getLast());
            }
        } finally {
            client.closePointInTime(close -> close.id(pit));
        }
    }

    private List<Hit<PostDocument>> page(String pit, Query query, @Nullable Hit<PostDocument> last) throws IOException {
        var request = new SearchRequest.Builder()
                .pit(reader -> reader.id(pit).keepAlive(KEEP_ALIVE))
                .query(query)
                .sort(sort -> sort.field(field -> field.field("_shard_doc")))
                .trackTotalHits(total -> total.enabled(false))
                .size(PAGE_DOCUMENTS);
        if (last != null) {
            request.searchAfter(last.sort());
        }
        SearchResponse<PostDocument> page = client.search(request.build(), PostDocument.class);
        if (page.timedOut() || page.shards().failed().intValue() > 0) {
            throw new StoreUnavailableException("Elasticsearch could not read every shard");
        }
        return page.hits().hits();
    }
}
