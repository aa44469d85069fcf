package io.writepath.queue.rabbitmq;

import com.rabbitmq.client.AMQP;
import io.writepath.post.Post;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.json.JsonMapper;

/**
 * The message format: one post a line, each JSON of {@code id}, {@code content}, {@code createdAt}, and one fixed type.
 * The JSON itself has no line break, so the posts of a message can be counted, and each be parked alone, unread.
 */
public final class PostMessages {

    public static final String TYPE = "posts.v1";

    private static final String CONTENT_TYPE = "application/x-ndjson";
    private static final byte LINE_BREAK = '\n';
    private static final JsonMapper JSON = JsonMapper.builder()
            .enable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
            .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
            .build();

    private PostMessages() {}

    /** The post as a message for the exchange, or as one line of a message. */
    public static OutgoingMessage encode(Post post) {
        return new OutgoingMessage(post.id().toString(), JSON.writeValueAsBytes(post), Map.of());
    }

    /** One body of the posts' own, of which there is at least one. */
    static byte[] join(List<byte[]> lines) {
        int bytes =
                lines.size() - 1 + lines.stream().mapToInt(line -> line.length).sum();
        byte[] body = new byte[bytes];
        int end = 0;
        for (byte[] line : lines) {
            if (end > 0) {
                body[end++] = LINE_BREAK;
            }
            System.arraycopy(line, 0, body, end, line.length);
            end += line.length;
        }
        return body;
    }

    /** How many posts a message has; one that has none counts as one, too. */
    public static int count(byte[] body) {
        int lines = 1;
        for (byte each : body) {
            if (each == LINE_BREAK) {
                lines++;
            }
        }
        return lines;
    }

    /** The posts of a message, each to be decoded alone. */
    public static List<byte[]> lines(byte[] body) {
        List<byte[]> lines = new ArrayList<>();
        int start = 0;
        for (int end = 0; end < body.length; end++) {
            if (body[end] == LINE_BREAK) {
                lines.add(Arrays.copyOfRange(body, start, end));
                start = end + 1;
            }
        }
        lines.add(Arrays.copyOfRange(body, start, body.length));
        return lines;
    }

    /**
     * Reads one post back.
     *
     * @throws UndecodableMessageException when it is not a post of this format; it never will be
     */
    public static Post decode(byte[] line) {
        Post post = parse(line);
        if (post.id() == null || post.content() == null || post.createdAt() == null) {
            throw new UndecodableMessageException("id, content or createdAt is missing");
        }
        return post;
    }

    private static Post parse(byte[] line) {
        try {
            Post post = JSON.readValue(line, Post.class);
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
