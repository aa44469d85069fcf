package io.writepath.store.elasticsearch;

import co.elastic.clients.elasticsearch._types.ErrorCause;
import co.elastic.clients.elasticsearch._types.InlineGet;
import co.elastic.clients.elasticsearch._types.ShardStatistics;
import co.elastic.clients.elasticsearch.core.CreateResponse;
import co.elastic.clients.elasticsearch.core.IndexResponse;
import co.elastic.clients.elasticsearch.core.UpdateResponse;
import co.elastic.clients.elasticsearch.core.bulk.BulkResponseItem;
import co.elastic.clients.json.JsonData;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** What became of one {@link Operation}. A bulk's own HTTP status says nothing about it. */
sealed interface Reply {

    /**
     * On disk in so many copies.
     *
     * @param stored the document, in reply to a {@link Operation.Confirm}
     */
    record Written(int copies, @Nullable PostDocument stored) implements Reply {}

    /** Another document has the id. */
    record Taken() implements Reply {}

    /**
     * Not now; where no answer came, the write may have happened.
     *
     * @param reason fit for a client to read
     * @param copiesMissing a shard has fewer active copies than it needs
     */
    record Unavailable(String reason, boolean copiesMissing) implements Reply {

        Unavailable(String reason) {
            this(reason, false);
        }
    }

    /** Never, whatever the time: the document does not fit the mapping. */
    record Refused(String reason) implements Reply {}

    static Reply of(BulkResponseItem item) {
        ErrorCause error = item.error();
        if (error != null) {
            return ofError(item.status(), error.type());
        }
        InlineGet<Map<String, JsonData>> get = item.get();
        PostDocument stored = get == null || get.source() == null ? null : PostDocument.of(get.source());
        return new Written(copies(item.shards()), stored);
    }

    static Reply of(CreateResponse response) {
        return new Written(copies(response.shards()), null);
    }

    static Reply of(IndexResponse response) {
        return new Written(copies(response.shards()), null);
    }

    static Reply of(UpdateResponse<PostDocument> response) {
        InlineGet<PostDocument> get = response.get();
        return new Written(copies(response.shards()), get == null ? null : get.source());
    }

    /** A request for one document failed. (Where a bulk fails as a whole, that says nothing about its documents.) */
    static Reply ofFailure(Throwable failure) {
        return switch (Failures.status(failure)) {
            case 400, 409 -> ofError(Failures.status(failure), Failures.type(failure));
            default -> new Unavailable(Failures.reason(failure), Failures.copiesMissing(Failures.type(failure)));
        };
    }

    private static int copies(@Nullable ShardStatistics shards) {
        return shards == null ? 0 : shards.successful().intValue();
    }

    private static Reply ofError(int status, @Nullable String type) {
        return switch (status) {
            case 409 -> new Taken();
            case 400 -> new Refused("Elasticsearch refuses the document: " + type);
            default -> new Unavailable(Failures.reason(status, type), Failures.copiesMissing(type));
        };
    }
}
