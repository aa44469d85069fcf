package io.writepath.queue.rabbitmq;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.rabbitmq.client.AMQP;
import io.writepath.post.Post;
import java.time.Instant;
import java.util.List;
import java.util.UUID;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PostMessagesTests {

    private static final UUID ID = UUID.fromString("01234567-89ab-8cde-8f01-23456789abcd");
    private static final Instant CREATED_AT = Instant.parse("2026-11-21T03:15:31.007Z");

    @ParameterizedTest
    @ValueSource(strings = {"plain", "영화가 좋다", "\"quoted\" \\ back", "line\nbreak\ttab", "🎬🎬", "</script>=1+1", " "})
    void anyContentComesBackAsItWas(String content) {
        Post post = new Post(ID, content, CREATED_AT);
        OutgoingMessage message = PostMessages.encode(post);

        assertThat(PostMessages.decode(message.body())).isEqualTo(post);
        assertThat(PostMessages.count(message.body())).isEqualTo(1);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 100})
    void anyNumberOfPostsShareABodyAndComeBackInTheirOrder(int count) {
        List<Post> posts = IntStream.range(0, count)
                .mapToObj(i -> new Post(UUID.randomUUID(), "line\nbreak " + i, CREATED_AT))
                .toList();

        byte[] body = PostMessages.join(
                posts.stream().map(post -> PostMessages.encode(post).body()).toList());

        assertThat(PostMessages.count(body)).isEqualTo(count);
        assertThat(PostMessages.lines(body).stream().map(PostMessages::decode)).containsExactlyElementsOf(posts);
    }

    @Test
    void aPostBesideOthersIsTheSameBytesAsAlone() {
        byte[] post = PostMessages.encode(new Post(ID, "content", CREATED_AT)).body();

        assertThat(PostMessages.lines(PostMessages.join(List.of(post, post)))).containsExactly(post, post);
    }

    @Test
    void aPostIsPersistentAndCarriesItsIdAndFixedType() {
        OutgoingMessage message = PostMessages.encode(new Post(ID, "content", CREATED_AT));

        AMQP.BasicProperties properties = PostMessages.properties(message, 42, 2);

        assertThat(properties.getDeliveryMode()).isEqualTo(2);
        assertThat(properties.getMessageId()).isEqualTo(ID.toString());
        assertThat(properties.getType()).isEqualTo("posts.v1");
        assertThat(properties.getContentType()).isEqualTo("application/x-ndjson");
        assertThat(properties.getCorrelationId()).isEqualTo("42");
    }

    @Test
    void theBodyIsPlainJsonOfThreeFields() {
        OutgoingMessage message = PostMessages.encode(new Post(ID, "content", CREATED_AT));

        assertThat(new String(message.body(), UTF_8))
                .isEqualTo("{\"id\":\"%s\",\"content\":\"content\",\"createdAt\":\"2026-11-21T03:15:31.007Z\"}", ID);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "null",
                "[]",
                "not json",
                "{\"id\":\"01234567-89ab-8cde-8f01-23456789abcd\",\"content\":\"a\"}",
                "{\"id\":\"01234567-89ab-8cde-8f01-23456789abcd\",\"content\":null,\"createdAt\":\"2026-11-21T03:15:31Z\"}",
                "{\"id\":\"x\",\"content\":\"a\",\"createdAt\":\"2026-11-21T03:15:31Z\"}",
                "{\"id\":\"01234567-89ab-8cde-8f01-23456789abcd\",\"content\":\"a\",\"createdAt\":\"2026-11-21T03:15:31Z\"} {}",
                "{\"id\":\"01234567-89ab-8cde-8f01-23456789abcd\",\"content\":\"a\",\"createdAt\":\"2026-11-21T03:15:31Z\",\"x\":1}"
            })
    void whatIsNotAPostIsUndecodable(String body) {
        assertThatThrownBy(() -> PostMessages.decode(body.getBytes(UTF_8)))
                .isInstanceOf(UndecodableMessageException.class);
    }
}
