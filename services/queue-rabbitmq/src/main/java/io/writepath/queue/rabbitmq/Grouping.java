package io.writepath.queue.rabbitmq;

/**
 * How posts share messages: a post goes out at once while fewer messages than the limit are unconfirmed, and otherwise
 * together with whatever else arrives until a confirm comes.
 *
 * @param postsMax most posts in one message
 * @param bytesMax a message whose bodies have so many bytes takes no further post
 * @param unconfirmedMax most messages sent and not confirmed
 */
public record Grouping(int postsMax, int bytesMax, int unconfirmedMax) {

    /** One message after the other, each alone. */
    public static final Grouping NONE = new Grouping(1, 1, 1);

    boolean takesMore(int posts, int bytes) {
        return posts < postsMax && bytes < bytesMax;
    }
}
