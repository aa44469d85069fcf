package io.writepath.store.elasticsearch;

import co.elastic.clients.elasticsearch._types.query_dsl.DateRangeQuery;
import co.elastic.clients.elasticsearch._types.query_dsl.Query;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * What is searched for, and where.
 *
 * @param copies each shard's copy is chosen by this text; any copy where it is null
 */
record Sought(Query query, @Nullable String copies) {

    /**
     * A keyword's searches all go to the same copies while these live. A replica refreshes for itself: asked in turn,
     * the copies would find a post and miss it a moment later, and one page be put together from two states of the
     * index.
     */
    static Sought keyword(String keyword, Query holding) {
        return new Sought(holding, "keyword-" + Integer.toHexString(keyword.hashCode()));
    }

    static Sought anywhere(Query query) {
        return new Sought(query, null);
    }

    /** Of these the ones whose field lies in a range. */
    Sought within(String field, UnaryOperator<DateRangeQuery.Builder> range) {
        Query both = Query.of(any -> any.bool(all -> all.filter(query)
                .filter(filter -> filter.range(one -> one.date(date -> range.apply(date.field(field)))))));
        return new Sought(both, copies);
    }
}
