package io.writepath.tutorial.consumer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.writepath.post.Post;
import io.writepath.post.PostWriter;
import io.writepath.post.QueueInspector;
import io.writepath.post.QueueInspector.Pending;
import io.writepath.post.StoreInspector;
import io.writepath.queue.rabbitmq.QueueNames;
import io.writepath.testsupport.BackingServices;
import io.writepath.testsupport.PostgresService;
import io.writepath.testsupport.RabbitService;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.springframework.amqp.rabbit.core.RabbitAdmin;
import org.springframework.amqp.rabbit.core.RabbitTemplate;
import org.springframework.amqp.rabbit.listener.RabbitListenerEndpointRegistry;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ApplicationContextInitializer;
import org.springframework.context.ConfigurableApplicationContext;

/** With Spring Boot defaults a consumer takes one message at a time and prefetches 250. */
class TutorialConsumerIntegrationTests {

    private static final Duration SOON = Duration.ofSeconds(60);
    private static final int PREFETCH = 250;
    private static final int SENT = 300;
    private static final RabbitService RABBIT = BackingServices.rabbitmq();
    private static final PostgresService POSTGRES = BackingServices.postgres().inSchema("tutorial");

    private final CountDownLatch open = new CountDownLatch(1);
    private final AtomicInteger atOnce = new AtomicInteger();
    private final AtomicInteger mostAtOnce = new AtomicInteger();
    private final ConfigurableApplicationContext tutorial = start();
    private final QueueInspector queue = tutorial.getBean(QueueInspector.class);
    private final StoreInspector store = tutorial.getBean(StoreInspector.class);

    /** Another test's queue of the same name is of another type. */
    @AfterEach
    void leaveRoom() {
        open.countDown();
        tutorial.getBean(RabbitListenerEndpointRegistry.class).stop();
        deleteQueue(tutorial.getBean(RabbitAdmin.class));
        tutorial.close();
    }

    @Test
    void takesOneMessageAtATimeWith250InHand() {
        await().atMost(SOON).ignoreExceptions().untilAsserted(queue::assertReady);
        queue.reset();
        store.reset();
        for (int sent = 0; sent < SENT; sent++) {
            Post post = new Post(UUID.randomUUID(), "post " + sent, Instant.now());
            tutorial.getBean(RabbitTemplate.class).convertAndSend(QueueNames.EXCHANGE, QueueNames.ROUTING_KEY, post);
        }
        await().atMost(SOON)
                .untilAsserted(() -> assertThat(queue.pending()).isEqualTo(new Pending(SENT - PREFETCH, PREFETCH, 0)));
        assertThat(queue.durability().settings()).containsEntry("queue.x-queue-type", "classic");

        open.countDown();

        await().atMost(SOON).until(() -> queue.pending().equals(new Pending(0, 0, 0)) && store.count() == SENT);
        assertThat(mostAtOnce).hasValue(1);
        store.reset();
        assertThat(store.count()).isZero();
    }

    private ConfigurableApplicationContext start() {
        ApplicationContextInitializer<ConfigurableApplicationContext> wrap =
                context -> context.getBeanFactory().addBeanPostProcessor(new BeanPostProcessor() {
                    @Override
                    public Object postProcessBeforeInitialization(Object bean, String name) {
                        if (bean instanceof RabbitAdmin admin) {
                            deleteQueue(admin);
                        }
                        return bean;
                    }

                    @Override
                    public Object postProcessAfterInitialization(Object bean, String name) {
                        return bean instanceof PostWriter writer ? closed(writer) : bean;
                    }
                });
        return new SpringApplicationBuilder(TutorialConsumer.class)
                .initializers(wrap)
                .properties(Map.of(
                        "management.server.port", 0,
                        "server.address", "127.0.0.1",
                        "writepath.queue.type", "classic",
                        "spring.rabbitmq.addresses", RABBIT.address(),
                        "spring.rabbitmq.username", RABBIT.username(),
                        "spring.rabbitmq.password", RABBIT.password(),
                        "spring.datasource.url", POSTGRES.jdbcUrl(),
                        "spring.datasource.username", POSTGRES.username(),
                        "spring.datasource.password", POSTGRES.password()))
                .run();
    }

    private static void deleteQueue(RabbitAdmin admin) {
        admin.deleteQueue(QueueNames.QUEUE);
    }

    private PostWriter closed(PostWriter writer) {
        return post -> {
            mostAtOnce.accumulateAndGet(atOnce.incrementAndGet(), Math::max);
            try {
                open.await();
                return writer.write(post);
            } catch (InterruptedException interrupted) {
                throw new IllegalStateException(interrupted);
            } finally {
                atOnce.decrementAndGet();
            }
        };
    }
}
