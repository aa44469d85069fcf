package io.writepath.queue.rabbitmq;

import java.util.List;
import java.util.Map;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicBoolean;

/** Posts in one message, which has one of the slots: what the broker says of the message answers each of them. */
final class Group {

    private final List<Publication> posts;
    private final Semaphore slots;
    private final AtomicBoolean hasSlot = new AtomicBoolean(true);

    /** @param slots of which this has one, until {@link #release} */
    Group(List<Publication> posts, Semaphore slots) {
        this.posts = posts;
        this.slots = slots;
    }

    List<Publication> posts() {
        return posts;
    }

    /** Whether every sender has had its answer, the broker's or none in time. */
    boolean isAnswered() {
        return posts.stream().allMatch(post -> post.outcome().isDone());
    }

    /** Lets another message go out; any further time nothing happens. */
    void release() {
        if (hasSlot.compareAndSet(true, false)) {
            slots.release();
        }
    }

    void answer(PublishOutcome outcome) {
        posts.forEach(post -> post.outcome().complete(outcome));
    }

    /** Its id is the first post's. A message with headers of its own is alone. */
    OutgoingMessage message() {
        OutgoingMessage first = posts.getFirst().message();
        if (posts.size() == 1) {
            return first;
        }
        List<byte[]> lines = posts.stream().map(post -> post.message().body()).toList();
        return new OutgoingMessage(first.id(), PostMessages.join(lines), Map.of());
    }
}
