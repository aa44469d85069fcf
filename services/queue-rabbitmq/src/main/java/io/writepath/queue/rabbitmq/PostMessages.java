package io.writepath.queue.rabbitmq;

import com.rabbitmq.client.AMQP;
import io.writepath.post.Post;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.json.JsonMapper;

/**
 * The message format: JSON of {@code id}, {@code content}, {@code createdAt}, one fixed type, the post's id as message
 * id.
 */
public final class PostMessages {

    public static final String TYPE = "post.v1";

    private static final String CONTENT_TYPE = "application/json";
    private static final JsonMapper JSON = JsonMapper.builder()
            .enable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
            .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
            .build();

    private PostMessages() {}

    /** A message of the post for the exchange. */
    public static OutgoingMessage encode(Post post) {
        return new OutgoingMessage(post.id().toString(), JSON.writeValueAsBytes(post), Map.of());
    }

    /**
     * Reads a post back.
     *
     * @param type the message's type
     * @param id the message's own id
     * @throws UndecodableMessageException when it is not a post of this format; it never will be
     */
    public static Post decode(@Nullable String type, @Nullable String id, byte[] body) {
        if (!TYPE.equals(type)) {
            throw new UndecodableMessageException("its type is not " + TYPE);
        }
        Post post = parse(body);
        if (post.id() == null || post.content() == null || post.createdAt() == null) {
            throw new UndecodableMessageException("id, content or createdAt is missing");
        }
        if (!post.id().toString().equals(id)) {
            throw new UndecodableMessageException("its message id is not the post's id");
        }
        return post;
    }

    private static Post parse(byte[] body) {
        try {
            Post post = JSON.readValue(body, Post.class);
            if (post == null) {
                throw new UndecodableMessageException("it is JSON null");
            }
            return post;
        } catch (JacksonException e) {
            throw new UndecodableMessageException("it is not JSON of a post", e);
        }
    }

    /** The correlation id carries the publishing number for returns. */
    static AMQP.BasicProperties properties(OutgoingMessage message, long sequence, int deliveryMode) {
        return new AMQP.BasicProperties.Builder()
                .deliveryMode(deliveryMode)
                .contentType(CONTENT_TYPE)
                .type(TYPE)
                .messageId(message.id())
                .correlationId(Long.toString(sequence))
                .headers(message.headers().isEmpty() ? null : message.headers())
                .build();
    }
}
