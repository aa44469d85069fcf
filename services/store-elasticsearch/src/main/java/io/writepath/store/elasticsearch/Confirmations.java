package io.writepath.store.elasticsearch;

import co.elastic.clients.elasticsearch.ElasticsearchClient;
import co.elastic.clients.elasticsearch._types.ElasticsearchException;
import co.elastic.clients.elasticsearch.core.mget.MultiGetResponseItem;
import io.writepath.post.StoreUnavailableException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * What confirms posts whose ids were there already. Where bigrams are searched, the stored content is read first and
 * cut again: what the client sent this time may be other content, and what is stored under an id never changes.
 */
final class Confirmations {

    private final ElasticsearchClient client;
    private final SearchIndex index;

    Confirmations(ElasticsearchClient client, SearchIndex index) {
        this.client = client;
        this.index = index;
    }

    /** One a post, in their order. Throws {@link StoreUnavailableException} where a post is not to be seen. */
    List<Operation.Confirm> of(List<UUID> ids) {
        if (index == SearchIndex.WORDS) {
            return ids.stream().map(id -> new Operation.Confirm(id, null)).toList();
        }
        List<MultiGetResponseItem<PostDocument>> stored = read(ids);
        List<Operation.Confirm> confirms = new ArrayList<>(ids.size());
        for (int i = 0; i < ids.size(); i++) {
            PostDocument document = document(stored.get(i));
            if (document == null) {
                throw new StoreUnavailableException("Elasticsearch did not show a stored post");
            }
            confirms.add(new Operation.Confirm(ids.get(i), index.cut(document.content())));
        }
        return confirms;
    }

    private List<MultiGetResponseItem<PostDocument>> read(List<UUID> ids) {
        List<String> wanted = ids.stream().map(UUID::toString).toList();
        try {
            return client.mget(get -> get.index(PostIndex.ALIAS).ids(wanted), PostDocument.class)
                    .docs();
        } catch (IOException | ElasticsearchException failure) {
            throw Failures.unavailable(failure);
        }
    }

    private static @Nullable PostDocument document(MultiGetResponseItem<PostDocument> item) {
        return item.isResult() ? item.result().source() : null;
    }
}
