package io.writepath.store.elasticsearch;

import io.micrometer.core.instrument.binder.MeterBinder;
import java.util.concurrent.CompletableFuture;

/** Takes one document at a time to Elasticsearch; how many travel together is its own affair. */
interface DocumentSender extends MeterBinder {

    /**
     * Never blocks.
     *
     * @return completes with the reply to this very operation, never exceptionally; cancelled by a caller who gives up
     */
    CompletableFuture<Reply> send(Operation operation);
}
