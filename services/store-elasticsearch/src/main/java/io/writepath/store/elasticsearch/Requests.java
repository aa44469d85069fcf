package io.writepath.store.elasticsearch;

import co.elastic.clients.elasticsearch._types.FieldValue;
import co.elastic.clients.elasticsearch._types.Time;
import co.elastic.clients.elasticsearch._types.query_dsl.Query;
import co.elastic.clients.elasticsearch.core.BulkRequest;
import co.elastic.clients.elasticsearch.core.CreateRequest;
import co.elastic.clients.elasticsearch.core.IndexRequest;
import co.elastic.clients.elasticsearch.core.SearchRequest;
import co.elastic.clients.elasticsearch.core.UpdateRequest;
import co.elastic.clients.elasticsearch.core.bulk.BulkOperation;
import io.writepath.store.elasticsearch.ElasticsearchSettings.Ids;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.UUID;

/**
 * Write requests. All of them demand the alias: if somebody deletes the index, a cluster that creates indexes by itself
 * would otherwise take the writes into a new one with one shard and a mapping of its own guess, and answer 201.
 */
final class Requests {

    /** Other writers of the same repeated post, all confirming it at once, are the only source of conflicts. */
    private static final int CONFIRM_RETRIES = 100;

    private static final Map<String, Object> NO_CHANGE = Map.of();

    private Requests() {}

    /** @param copiesWait how long Elasticsearch itself may wait for a declared copy that is not there */
    static BulkRequest bulk(List<? extends Operation> operations, Time copiesWait) {
        return BulkRequest.of(request -> request.index(PostIndex.ALIAS)
                .requireAlias(true)
                .timeout(copiesWait)
                .operations(operations.stream().map(Requests::item).toList()));
    }

    static CreateRequest<PostDocument> single(Operation.Create create, Time copiesWait) {
        return CreateRequest.of(request -> request.index(PostIndex.ALIAS)
                .requireAlias(true)
                .timeout(copiesWait)
                .id(create.id().toString())
                .document(create.document()));
    }

    static IndexRequest<PostDocument> single(Operation.Append append, Time copiesWait) {
        return IndexRequest.of(request -> request.index(PostIndex.ALIAS)
                .requireAlias(true)
                .timeout(copiesWait)
                .document(append.document()));
    }

    static UpdateRequest<PostDocument, Map<String, Object>> single(Operation.Confirm confirm, Time copiesWait) {
        return UpdateRequest.of(request -> request.index(PostIndex.ALIAS)
                .requireAlias(true)
                .timeout(copiesWait)
                .id(confirm.id().toString())
                .retryOnConflict(CONFIRM_RETRIES)
                .doc(change(confirm))
                .detectNoop(false)
                .source(source -> source.fetch(true)));
    }

    private static Map<String, Object> change(Operation.Confirm confirm) {
        return confirm.bigrams() == null ? NO_CHANGE : Map.of("bigrams", confirm.bigrams());
    }

    /** A real search for posts by their ids. */
    static SearchRequest visible(Collection<UUID> ids, Ids made) {
        List<String> wanted = ids.stream().map(UUID::toString).toList();
        Query query = made == Ids.AUTO
                ? Query.of(any -> any.terms(terms -> terms.field("postId")
                        .terms(values ->
                                values.value(wanted.stream().map(FieldValue::of).toList()))))
                : Query.of(any -> any.ids(values -> values.values(wanted)));
        return SearchRequest.of(search -> search.index(PostIndex.ALIAS)
                .query(query)
                .trackTotalHits(total -> total.enabled(false))
                .size(wanted.size()));
    }

    private static BulkOperation item(Operation operation) {
        String id = operation.id().toString();
        return switch (operation) {
            case Operation.Create create ->
                BulkOperation.of(item -> item.create(document -> document.id(id).document(create.document())));
            case Operation.Append append ->
                BulkOperation.of(item -> item.index(document -> document.document(append.document())));
            case Operation.Confirm confirm ->
                BulkOperation.of(item -> item.update(update -> update.id(id)
                        .retryOnConflict(CONFIRM_RETRIES)
                        .action(action ->
                                action.doc(change(confirm)).detectNoop(false).source(source -> source.fetch(true)))));
        };
    }
}
