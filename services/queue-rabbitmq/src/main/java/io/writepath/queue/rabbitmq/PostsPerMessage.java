package io.writepath.queue.rabbitmq;

import java.util.concurrent.atomic.AtomicReference;

/**
 * The mean number of posts in the messages that went by here lately. The broker only tells how many messages wait; how
 * many posts those have is estimated with this mean.
 */
public final class PostsPerMessage {

    private static final int LATELY = 128;

    private final AtomicReference<Seen> seen = new AtomicReference<>(new Seen(0, 1));

    /** A message with so many posts went by. */
    public void add(int posts) {
        seen.updateAndGet(known -> known.and(posts));
    }

    /** Posts in so many messages: at least one each, and exactly none in none. */
    public long estimate(long messages) {
        return Math.max(messages, Math.round(messages * seen.get().mean()));
    }

    /** The plain mean of the first ones, then one in which older messages count less and less. */
    private record Seen(int messages, double mean) {

        Seen and(int posts) {
            int weight = Math.min(messages + 1, LATELY);
            return new Seen(weight, mean + (posts - mean) / weight);
        }
    }
}
