package io.writepath.queue.rabbitmq;

import java.util.concurrent.CompletableFuture;

/** One post on its way, or a whole message, and the outcome its sender waits for. */
record Publication(OutgoingMessage message, CompletableFuture<PublishOutcome> outcome) {

    Publication(OutgoingMessage message) {
        this(message, new CompletableFuture<>());
    }
}
