package io.writepath.store.elasticsearch;

import co.elastic.clients.elasticsearch._types.ElasticsearchException;
import co.elastic.clients.transport.TransportException;
import io.writepath.post.StoreUnavailableException;
import java.io.IOException;
import java.net.ConnectException;
import java.net.SocketTimeoutException;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import org.elasticsearch.client.ResponseException;
import org.jspecify.annotations.Nullable;

/** Puts what Elasticsearch and its client report into words that may leave the process. */
final class Failures {

    static final int NOT_FOUND = 404;
    static final int TOO_MANY_REQUESTS = 429;

    private static final String TOO_FEW_COPIES = "unavailable_shards_exception";

    private Failures() {}

    /** The HTTP status Elasticsearch answered with, 0 if it gave no answer. */
    static int status(@Nullable Throwable failure) {
        return switch (unwrap(failure)) {
            case ElasticsearchException answered -> answered.status();
            case ResponseException answered ->
                answered.getResponse().getStatusLine().getStatusCode();
            case TransportException answered -> answered.statusCode();
            case null, default -> 0;
        };
    }

    /** Elasticsearch's own name of the error, where the client read it. */
    static @Nullable String type(@Nullable Throwable failure) {
        return switch (unwrap(failure)) {
            case ElasticsearchException answered -> answered.error().type();
            case ResponseException answered
            when String.valueOf(answered.getMessage()).contains(TOO_FEW_COPIES) -> TOO_FEW_COPIES;
            case null, default -> null;
        };
    }

    static boolean copiesMissing(@Nullable String type) {
        return TOO_FEW_COPIES.equals(type);
    }

    static StoreUnavailableException unavailable(Throwable failure) {
        return new StoreUnavailableException(reason(failure), failure);
    }

    static String reason(@Nullable Throwable failure) {
        int status = status(failure);
        if (status != 0) {
            return reason(status, type(failure));
        }
        return switch (unwrap(failure)) {
            case ConnectException refused -> "Elasticsearch cannot be reached";
            case SocketTimeoutException late -> "Elasticsearch did not answer in time";
            case IOException broken -> "the connection to Elasticsearch broke";
            case null, default -> "the request to Elasticsearch failed";
        };
    }

    static String reason(int status, @Nullable String type) {
        if (status == TOO_MANY_REQUESTS) {
            return "Elasticsearch is overloaded and rejected the request";
        }
        if (status == NOT_FOUND) {
            return "the index is missing in Elasticsearch";
        }
        if (TOO_FEW_COPIES.equals(type)) {
            return "Elasticsearch has fewer copies of the index than declared";
        }
        return "Elasticsearch answered %d%s".formatted(status, type == null ? "" : " " + type);
    }

    private static @Nullable Throwable unwrap(@Nullable Throwable failure) {
        Throwable cause = failure == null ? null : failure.getCause();
        boolean wrapper = failure instanceof CompletionException
                || failure instanceof ExecutionException
                || (failure != null && failure.getClass() == IOException.class);
        return wrapper && cause != null ? unwrap(cause) : failure;
    }
}
