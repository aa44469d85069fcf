package io.writepath.inspector;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.sun.net.httpserver.HttpServer;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationRegistry;
import io.micrometer.tracing.Tracer;
import io.writepath.post.PostLoader;
import io.writepath.post.StoreInspector;
import io.writepath.post.StoreSizes;
import java.lang.reflect.Proxy;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;

class TracesTests {

    private final Queue<String> received = new ConcurrentLinkedQueue<>();
    private final HttpServer receiver = receiver();

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Application {}

    @AfterEach
    void stop() {
        receiver.stop(0);
    }

    @Test
    void whatIsObservedReachesTheReceiverThatWasNamed() {
        String url =
                "http://127.0.0.1:%d/v1/traces".formatted(receiver.getAddress().getPort());
        try (ConfigurableApplicationContext application = start("--writepath.traces=" + url)) {
            observe(application);
        }
        await().atMost(Duration.ofSeconds(20))
                .until(() -> received.stream().anyMatch(span -> span.contains("a-write")));
    }

    @Test
    void withoutAReceiverNothingTraces() {
        try (ConfigurableApplicationContext application = start()) {
            observe(application);
            assertThat(application.getBeansOfType(Tracer.class)).isEmpty();
            assertThat(Thread.getAllStackTraces().keySet())
                    .extracting(Thread::getName)
                    .noneMatch(name -> name.startsWith("BatchSpanProcessor"));
        }
        assertThat(received).isEmpty();
    }

    private static void observe(ConfigurableApplicationContext application) {
        Observation.createNotStarted("a-write", application.getBean(ObservationRegistry.class))
                .observe(() -> {});
    }

    private static ConfigurableApplicationContext start(String... arguments) {
        List<String> all = new java.util.ArrayList<>(List.of("--server.port=-1", "--management.server.port=0"));
        all.addAll(List.of(arguments));
        return new SpringApplicationBuilder(Application.class)
                .initializers(context -> List.of(StoreInspector.class, PostLoader.class, StoreSizes.class)
                        .forEach(port -> context.getBeanFactory().registerSingleton(port.getName(), unasked(port))))
                .run(all.toArray(String[]::new));
    }

    private static <T> T unasked(Class<T> port) {
        return port.cast(Proxy.newProxyInstance(port.getClassLoader(), new Class<?>[] {port}, (self, method, given) -> {
            throw new UnsupportedOperationException(method.getName());
        }));
    }

    private HttpServer receiver() {
        try {
            HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
            server.createContext("/v1/traces", exchange -> {
                received.add(new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.ISO_8859_1));
                exchange.sendResponseHeaders(200, -1);
                exchange.close();
            });
            server.start();
            return server;
        } catch (java.io.IOException taken) {
            throw new java.io.UncheckedIOException(taken);
        }
    }
}
