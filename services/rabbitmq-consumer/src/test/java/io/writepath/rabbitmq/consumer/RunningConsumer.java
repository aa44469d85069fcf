package io.writepath.rabbitmq.consumer;

import static org.awaitility.Awaitility.await;

import io.writepath.post.PostBatchWriter;
import io.writepath.post.QueueInspector;
import io.writepath.post.QueueInspector.Pending;
import io.writepath.post.StoreInspector;
import io.writepath.testsupport.Metrics;
import io.writepath.testsupport.PostgresService;
import io.writepath.testsupport.RabbitService;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.Collection;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BiFunction;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.springframework.amqp.rabbit.core.RabbitAdmin;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ApplicationContextInitializer;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.stereotype.Controller;

/** The whole application against a real broker and a real PostgreSQL. */
final class RunningConsumer implements AutoCloseable {

    private final ConfigurableApplicationContext context;

    private RunningConsumer(ConfigurableApplicationContext context) {
        this.context = context;
    }

    static RunningConsumer start(RabbitService rabbit, PostgresService postgres) {
        return start(rabbit, postgres, UnaryOperator.identity());
    }

    /** Starts it with something that goes wrong wrapped around the real store's writer. */
    static RunningConsumer start(
            RabbitService rabbit, PostgresService postgres, UnaryOperator<PostBatchWriter> mishap, String... settings) {
        return start(rabbit, postgres, PostBatchWriter.class, (writer, context) -> mishap.apply(writer), settings);
    }

    /**
     * Starts it with a listener container that finds its queue gone while it is blind, and by then somebody else has
     * made another one: seeing again, it is refused when it declares its own.
     */
    static RunningConsumer startBlindable(
            RabbitService rabbit, PostgresService postgres, AtomicBoolean blind, Callable<Boolean> meanwhile) {
        return start(rabbit, postgres, RabbitAdmin.class, (admin, context) -> {
            RabbitAdmin blindable = new RabbitAdmin(admin.getRabbitTemplate()) {
                @Override
                public @Nullable Properties getQueueProperties(String queue) {
                    if (!blind.get()) {
                        return super.getQueueProperties(queue);
                    }
                    await().atMost(Duration.ofSeconds(10)).ignoreExceptions().until(meanwhile);
                    blind.set(false);
                    return null;
                }
            };
            blindable.setApplicationContext(context);
            blindable.setAutoStartup(false);
            return blindable;
        });
    }

    private static <B> RunningConsumer start(
            RabbitService rabbit,
            PostgresService postgres,
            Class<B> type,
            BiFunction<B, ConfigurableApplicationContext, B> wrapped,
            String... settings) {
        ApplicationContextInitializer<ConfigurableApplicationContext> wrap =
                context -> context.getBeanFactory().addBeanPostProcessor(new BeanPostProcessor() {
                    @Override
                    public Object postProcessAfterInitialization(Object bean, String name) {
                        return type.isInstance(bean) ? wrapped.apply(type.cast(bean), context) : bean;
                    }
                });
        return new RunningConsumer(new SpringApplicationBuilder(ConsumerApplication.class)
                .initializers(wrap)
                .properties(Map.of(
                        "management.server.port", 0,
                        "server.address", "127.0.0.1",
                        "spring.rabbitmq.addresses", rabbit.address(),
                        "spring.rabbitmq.username", rabbit.username(),
                        "spring.rabbitmq.password", rabbit.password(),
                        "spring.datasource.url", postgres.jdbcUrl(),
                        "spring.datasource.username", postgres.username(),
                        "spring.datasource.password", postgres.password()))
                .properties(settings)
                .run());
    }

    /** The status of a GET at its management port. */
    int managementStatus(String path) throws IOException, InterruptedException {
        String port = context.getEnvironment().getRequiredProperty("local.management.port");
        try (HttpClient http = HttpClient.newHttpClient()) {
            HttpRequest get = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path))
                    .build();
            return http.send(get, HttpResponse.BodyHandlers.discarding()).statusCode();
        }
    }

    /** What answers HTTP in the application itself, beside the management port. */
    Collection<Object> controllers() {
        return context.getBeansWithAnnotation(Controller.class).values();
    }

    StoreInspector store() {
        return context.getBean(StoreInspector.class);
    }

    QueueInspector queue() {
        return context.getBean(QueueInspector.class);
    }

    /** Whether it holds a connection to consume on, as far as its client has noticed. */
    boolean connected() {
        return context.getBean(QueueConsumer.class).connected();
    }

    Map<String, Double> counters() {
        return Metrics.of(context.getBean(ConsumerCounters.class));
    }

    double counter(String name) {
        Double value = counters().get(name);
        if (value == null) {
            throw new IllegalArgumentException("no counter " + name);
        }
        return value;
    }

    void reset() {
        queue().reset();
        store().reset();
    }

    /** Whether nothing waits, nothing is in hand and this many rows are stored. */
    boolean hasDrainedTo(long rows) {
        Pending pending = queue().pending();
        return pending.ready() == 0 && pending.unacknowledged() == 0 && store().count() == rows;
    }

    @Override
    public void close() {
        context.close();
    }
}
