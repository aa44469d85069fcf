package io.writepath.rabbitmq.producer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.micrometer.core.instrument.MeterRegistry;
import io.writepath.post.QueueInspector;
import io.writepath.queue.rabbitmq.QueueReadBack;
import io.writepath.testsupport.BackingServices;
import io.writepath.testsupport.PostgresService;
import io.writepath.testsupport.RabbitService;
import io.writepath.testsupport.TcpProxy;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.amqp.rabbit.connection.CachingConnectionFactory;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;

/** The whole application over HTTP: what a broker in trouble looks like to a client. */
class ProducerIntegrationTests {

    private static final Duration SOON = Duration.ofSeconds(10);
    private static final Duration APPLICATION_DEADLINE = Duration.ofSeconds(5);
    private static final RabbitService RABBIT = BackingServices.rabbitmq();
    private static final PostgresService POSTGRES = BackingServices.postgres();

    private final TcpProxy proxy = TcpProxy.to(RABBIT.host(), RABBIT.port());
    private final HttpClient http = HttpClient.newHttpClient();
    private ConfigurableApplicationContext context;

    @BeforeEach
    void start() {
        context = new SpringApplicationBuilder(ProducerApplication.class)
                .properties(Map.of(
                        "server.port", 0,
                        "server.address", "127.0.0.1",
                        "management.server.port", 0,
                        "spring.rabbitmq.addresses", RABBIT.through(proxy).address(),
                        "spring.rabbitmq.username", RABBIT.username(),
                        "spring.rabbitmq.password", RABBIT.password(),
                        "spring.datasource.url", POSTGRES.jdbcUrl(),
                        "spring.datasource.username", POSTGRES.username(),
                        "spring.datasource.password", POSTGRES.password()))
                .run();
        queue().reset();
    }

    @AfterEach
    void stop() {
        proxy.heal();
        context.close();
        proxy.close();
    }

    @Test
    void aPostIsCreatedOnceTheQueueHasIt() throws Exception {
        UUID id = UUID.randomUUID();

        HttpResponse<String> answer = post(id, "영화가 좋다");

        assertThat(answer.statusCode()).isEqualTo(201);
        assertThat(answer.headers().firstValue("Location")).hasValue("/api/posts/" + id);
        assertThat(queue().pending().ready()).isEqualTo(1);
    }

    @Test
    void aRepeatedIdIsAlwaysCreatedBecauseOnlyTheConsumerCanKnow() throws Exception {
        UUID id = UUID.randomUUID();

        assertThat(post(id, "first").statusCode()).isEqualTo(201);
        assertThat(post(id, "second").statusCode()).isEqualTo(201);
    }

    @Test
    void concurrentPostsShareMessagesAndEachHasItsOwnAnswer() throws Exception {
        List<UUID> ids = ids(30);

        List<HttpResponse<String>> answers = whileUnconfirmed(() -> ids.stream()
                .map(id -> http.sendAsync(request(id, "together"), BodyHandlers.ofString()))
                .toList());

        assertThat(answers).hasSize(30).allMatch(answer -> answer.statusCode() == 201);
        assertThat(answers.stream().map(answer -> answer.headers().firstValue("Location")))
                .containsExactlyElementsOf(
                        ids.stream().map(id -> Optional.of("/api/posts/" + id)).toList());
        assertThat(context.getBean(QueueReadBack.class).messages()).isBetween(1L, 2L);
    }

    @Test
    void eachPostOfAnUnroutableMessageIsUnavailable() throws Exception {
        List<HttpResponse<String>> answers = whileUnconfirmed(() -> {
            unbind();
            return ids(20).stream()
                    .map(id -> http.sendAsync(request(id, "nowhere"), BodyHandlers.ofString()))
                    .toList();
        });

        assertThat(answers).hasSize(20).allSatisfy(answer -> assertUnavailable(answer, "no queue"));
        assertThat(queue().pending().ready()).isZero();
    }

    @Test
    void anUnroutablePostIsUnavailableAndNotCounted() throws Exception {
        unbind();
        assertUnavailable(post(UUID.randomUUID(), "nowhere"), "no queue");
        assertThat(queue().pending().ready()).isZero();
        await().atMost(SOON).until(() -> post(UUID.randomUUID(), "bound again").statusCode() == 201);
    }

    @Test
    void aFrozenBrokerIsUnavailableBeforeTheDeadlineAndServesAgainOnceItThaws() throws Exception {
        proxy.freeze();

        long startedAt = System.nanoTime();
        assertUnavailable(post(UUID.randomUUID(), "frozen"), "did not confirm");
        assertThat(Duration.ofNanos(System.nanoTime() - startedAt)).isLessThan(APPLICATION_DEADLINE);

        proxy.heal();
        await().atMost(SOON).until(() -> post(UUID.randomUUID(), "thawed").statusCode() == 201);
    }

    @Test
    void aBrokerThatIsGoneIsUnavailableAndServesAgainOnceItIsBack() throws Exception {
        proxy.cut();
        await().atMost(SOON).untilAsserted(() -> assertUnavailable(post(UUID.randomUUID(), "gone"), "no connection"));

        proxy.heal();
        await().atMost(SOON).until(() -> post(UUID.randomUUID(), "back").statusCode() == 201);
    }

    /** Sends while the broker hears nothing, and lets it hear once the posts have gathered; all their answers. */
    private List<HttpResponse<String>> whileUnconfirmed(Callable<List<CompletableFuture<HttpResponse<String>>>> send)
            throws Exception {
        proxy.freeze();
        List<CompletableFuture<HttpResponse<String>>> sent = send.call();
        MeterRegistry metrics = context.getBean(MeterRegistry.class);
        await().atMost(SOON)
                .until(() -> metrics.get("writepath.unconfirmed").gauge().value() == sent.size());
        proxy.heal();
        return sent.stream().map(CompletableFuture::join).toList();
    }

    private static List<UUID> ids(int count) {
        return Stream.generate(UUID::randomUUID).limit(count).toList();
    }

    /** Over a connection of its own, which no proxy freezes. */
    private static void unbind() throws Exception {
        var connections = new CachingConnectionFactory(RABBIT.host(), RABBIT.port());
        connections.setUsername(RABBIT.username());
        connections.setPassword(RABBIT.password());
        try (var channel = connections.createConnection().createChannel(false)) {
            channel.queueUnbind("writepath.posts", "writepath.posts", "post");
        } finally {
            connections.destroy();
        }
    }

    private QueueInspector queue() {
        return context.getBean(QueueInspector.class);
    }

    private HttpResponse<String> post(UUID id, String content) throws Exception {
        return http.send(request(id, content), BodyHandlers.ofString());
    }

    private HttpRequest request(UUID id, String content) {
        String port = context.getEnvironment().getRequiredProperty("local.server.port");
        String body = "{\"id\":\"%s\",\"content\":\"%s\"}".formatted(id, content);
        return HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + "/api/posts"))
                .header("Content-Type", "application/json")
                .POST(BodyPublishers.ofString(body))
                .build();
    }

    private static void assertUnavailable(HttpResponse<String> answer, String reason) {
        assertThat(answer.statusCode()).isEqualTo(503);
        assertThat(answer.headers().firstValue("Retry-After")).isPresent();
        assertThat(answer.headers().firstValue("Content-Type")).hasValue("application/problem+json");
        assertThat(answer.body()).contains(reason);
    }
}
