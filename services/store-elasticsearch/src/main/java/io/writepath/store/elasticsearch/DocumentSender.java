package io.writepath.store.elasticsearch;

import io.writepath.post.Gauges;
import java.util.concurrent.CompletableFuture;

/** Takes one document at a time to Elasticsearch; how many travel together is its own affair. */
interface DocumentSender extends Gauges {

    /**
     * Never blocks.
     *
     * @return completes with the reply to this very operation, never exceptionally; cancelled by a caller who gives up
     */
    CompletableFuture<Reply> send(Operation operation);
}
