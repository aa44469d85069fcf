package io.writepath.rabbitmq.consumer;

import io.writepath.post.Post;
import io.writepath.queue.rabbitmq.PostMessages;
import io.writepath.queue.rabbitmq.UndecodableMessageException;
import org.jspecify.annotations.Nullable;

/** A delivery and what it holds: a post, or else the objection to it. */
record Incoming(
        Delivery delivery, @Nullable Post post, @Nullable String objection) {

    static Incoming of(Delivery delivery) {
        try {
            return new Incoming(delivery, PostMessages.decode(delivery.type(), delivery.id(), delivery.body()), null);
        } catch (UndecodableMessageException e) {
            return new Incoming(delivery, null, "undecodable: " + e.getMessage());
        }
    }

    Incoming objectedTo(String objection) {
        return new Incoming(delivery, post, objection);
    }
}
