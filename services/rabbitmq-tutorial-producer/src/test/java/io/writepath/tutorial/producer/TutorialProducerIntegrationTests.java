package io.writepath.tutorial.producer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.writepath.post.Durability;
import io.writepath.post.Durability.Level;
import io.writepath.post.Post;
import io.writepath.post.PostWriter;
import io.writepath.post.QueueInspector;
import io.writepath.testsupport.BackingServices;
import io.writepath.testsupport.PostgresService;
import io.writepath.testsupport.RabbitService;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.amqp.rabbit.connection.CachingConnectionFactory;
import org.springframework.amqp.rabbit.core.RabbitAdmin;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;

/** With Spring Boot defaults a producer sends to a durable queue without confirms, and the inspector says so. */
class TutorialProducerIntegrationTests {

    private static final RabbitService RABBIT = BackingServices.rabbitmq();
    private static final PostgresService POSTGRES = BackingServices.postgres().inSchema("tutorial");

    private ConfigurableApplicationContext tutorial;

    /**
     * Another test's queue of the same name is of another type, which any connection of the tutorial's stumbles over.
     */
    @BeforeEach
    void declareTheQueue() {
        deleteTheQueue();
        tutorial = start();
        tutorial.getBean(RabbitAdmin.class).initialize();
    }

    @AfterEach
    void stop() {
        tutorial.close();
        deleteTheQueue();
    }

    private static void deleteTheQueue() {
        var connections = new CachingConnectionFactory(RABBIT.host(), RABBIT.port());
        connections.setUsername(RABBIT.username());
        connections.setPassword(RABBIT.password());
        new RabbitAdmin(connections).deleteQueue("writepath.posts");
        connections.destroy();
    }

    @Test
    void sendsWithoutConfirmsToADurableClassicQueue() {
        assertThat(tutorial.getBean(PostWriter.class)).isInstanceOf(PostSender.class);
        tutorial.getBean(PostWriter.class).write(new Post(UUID.randomUUID(), "sent", Instant.now()));
        var queue = tutorial.getBean(QueueInspector.class);
        await().atMost(Duration.ofSeconds(10)).until(() -> queue.pending().ready() == 1);
        assertThat(queue.durability().level()).isEqualTo(Level.C);
        assertThat(queue.durability().settings())
                .containsEntry(Durability.LOWERED_BY, "publish.confirms")
                .containsEntry("publish.confirms", "false")
                .containsEntry("queue.durable", "true")
                .containsEntry("queue.x-queue-type", "classic");
    }

    private static ConfigurableApplicationContext start() {
        return new SpringApplicationBuilder(TutorialProducer.class)
                .properties(Map.of(
                        "server.port", 0,
                        "server.address", "127.0.0.1",
                        "management.server.port", 0,
                        "spring.rabbitmq.addresses", RABBIT.address(),
                        "spring.rabbitmq.username", RABBIT.username(),
                        "spring.rabbitmq.password", RABBIT.password(),
                        "spring.datasource.url", POSTGRES.jdbcUrl(),
                        "spring.datasource.username", POSTGRES.username(),
                        "spring.datasource.password", POSTGRES.password()))
                .properties("writepath.queue.type=classic")
                .run();
    }
}
