package io.writepath.rabbitmq.producer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.writepath.post.QueueInspector;
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
import java.util.Map;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.amqp.rabbit.connection.ConnectionFactory;
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
    void anUnroutablePostIsUnavailableAndNotCounted() throws Exception {
        try (var channel =
                context.getBean(ConnectionFactory.class).createConnection().createChannel(false)) {
            channel.queueUnbind("writepath.posts", "writepath.posts", "post");
        }
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

    private QueueInspector queue() {
        return context.getBean(QueueInspector.class);
    }

    private HttpResponse<String> post(UUID id, String content) throws Exception {
        String port = context.getEnvironment().getRequiredProperty("local.server.port");
        String body = "{\"id\":\"%s\",\"content\":\"%s\"}".formatted(id, content);
        HttpRequest request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + "/api/posts"))
                .header("Content-Type", "application/json")
                .POST(BodyPublishers.ofString(body))
                .build();
        return http.send(request, BodyHandlers.ofString());
    }

    private static void assertUnavailable(HttpResponse<String> answer, String reason) {
        assertThat(answer.statusCode()).isEqualTo(503);
        assertThat(answer.headers().firstValue("Retry-After")).isPresent();
        assertThat(answer.headers().firstValue("Content-Type")).hasValue("application/problem+json");
        assertThat(answer.body()).contains(reason);
    }
}
