package io.writepath.rabbitmq.producer;

import static org.assertj.core.api.Assertions.assertThat;

import io.writepath.post.Durability;
import io.writepath.post.Durability.Level;
import io.writepath.post.Post;
import io.writepath.post.PostWriter;
import io.writepath.post.QueueInspector;
import io.writepath.testsupport.BackingServices;
import io.writepath.testsupport.PostgresService;
import io.writepath.testsupport.RabbitService;
import java.time.Instant;
import java.util.Map;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.springframework.amqp.rabbit.connection.ConnectionFactory;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;

/** Each naive setting acknowledges more than it keeps, and the inspector says which one it is. */
class NaiveTwinIntegrationTests {

    private static final RabbitService RABBIT = BackingServices.rabbitmq();
    private static final PostgresService POSTGRES = BackingServices.postgres();

    @Test
    void whatIsNotMandatoryIsAcknowledgedAndLost() throws Exception {
        try (ConfigurableApplicationContext naive = start("writepath.publisher.mandatory=false")) {
            queue(naive).reset();
            onChannel(naive, channel -> channel.queueUnbind("writepath.posts", "writepath.posts", "post"));
            try {
                naive.getBean(PostWriter.class).write(post());
                assertThat(queue(naive).pending().ready()).isZero();
            } finally {
                onChannel(naive, channel -> channel.queueBind("writepath.posts", "writepath.posts", "post"));
            }
            assertLowered(naive, "publish.mandatory");
        }
    }

    @Test
    void withoutConfirmsNothingIsPromised() {
        try (ConfigurableApplicationContext naive = start("writepath.publisher.confirms=false")) {
            naive.getBean(PostWriter.class).write(post());
            assertLowered(naive, "publish.confirms");
        }
    }

    @Test
    void aTransientQueuePromisesNothing() throws Exception {
        try (ConfigurableApplicationContext correct = start()) {
            assertThat(queue(correct).durability().level()).isEqualTo(Level.A);
            assertThat(queue(correct).durability().settings()).doesNotContainKey(Durability.LOWERED_BY);
            onChannel(correct, channel -> channel.queueDelete("writepath.posts"));
        }
        try (ConfigurableApplicationContext naive = start("writepath.queue.type=classic-transient")) {
            naive.getBean(PostWriter.class).write(post());
            assertLowered(naive, "queue.durable");
            assertThat(queue(naive).durability().settings()).containsEntry("publish.delivery_mode", "1");
            onChannel(naive, channel -> channel.queueDelete("writepath.posts"));
        }
    }

    private static void assertLowered(ConfigurableApplicationContext naive, String setting) {
        assertThat(queue(naive).durability().level()).isEqualTo(Level.C);
        assertThat(queue(naive).durability().settings()).containsEntry(Durability.LOWERED_BY, setting);
    }

    private static Post post() {
        return new Post(UUID.randomUUID(), "naive", Instant.now());
    }

    private static QueueInspector queue(ConfigurableApplicationContext context) {
        return context.getBean(QueueInspector.class);
    }

    private static void onChannel(ConfigurableApplicationContext context, Action action) throws Exception {
        try (var channel =
                context.getBean(ConnectionFactory.class).createConnection().createChannel(false)) {
            action.run(channel);
        }
    }

    private static ConfigurableApplicationContext start(String... settings) {
        return new SpringApplicationBuilder(ProducerApplication.class)
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
                .properties(settings)
                .run();
    }

    private interface Action {
        void run(com.rabbitmq.client.Channel channel) throws Exception;
    }
}
