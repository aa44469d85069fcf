package io.writepath.rabbitmq.consumer;

import io.writepath.post.Post;
import io.writepath.queue.rabbitmq.PostMessages;
import io.writepath.queue.rabbitmq.UndecodableMessageException;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * One post of a delivery, or else the objection to what came in its place.
 *
 * @param body as it came; of a message without any post, all of it
 */
@SuppressWarnings("ArrayRecordComponent") // never compared
record Incoming(
        Delivery delivery,
        byte[] body,
        @Nullable Post post,
        @Nullable String objection) {

    private static final String UNKNOWN = "unknown";

    /** What a message holds, in its order. One that holds no post at all is left in one piece. */
    static List<Incoming> of(Delivery delivery) {
        if (!PostMessages.TYPE.equals(delivery.type())) {
            return List.of(whole(delivery, "undecodable: its type is not " + PostMessages.TYPE));
        }
        List<Incoming> posts = PostMessages.lines(delivery.body()).stream()
                .map(line -> of(delivery, line))
                .toList();
        return posts.stream().allMatch(each -> each.post == null)
                ? List.of(whole(delivery, posts.getFirst().objection))
                : posts;
    }

    private static Incoming of(Delivery delivery, byte[] line) {
        try {
            return new Incoming(delivery, line, PostMessages.decode(line), null);
        } catch (UndecodableMessageException e) {
            return new Incoming(delivery, line, null, "undecodable: " + e.getMessage());
        }
    }

    private static Incoming whole(Delivery delivery, @Nullable String objection) {
        return new Incoming(delivery, delivery.body(), null, objection);
    }

    /** The post's, or its message's where nobody can read it. */
    String id() {
        return post == null
                ? Objects.requireNonNullElse(delivery.id(), UNKNOWN)
                : post.id().toString();
    }

    Incoming objectedTo(String objection) {
        return new Incoming(delivery, body, post, objection);
    }
}
