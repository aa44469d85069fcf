package io.writepath.inspector;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.writepath.post.InFlight;
import io.writepath.post.PostLoader;
import io.writepath.post.StoreInspector;
import io.writepath.post.StoreSizes;
import io.writepath.post.StoreUnavailableException;
import io.writepath.post.StoredPost;
import java.io.IOException;
import java.lang.reflect.Proxy;
import java.net.InetAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.Base64;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.apache.coyote.AbstractProtocol;
import org.apache.coyote.ProtocolHandler;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.tomcat.TomcatWebServer;
import org.springframework.boot.web.server.context.WebServerInitializedEvent;
import org.springframework.boot.web.server.servlet.context.ServletWebServerInitializedEvent;
import org.springframework.context.ApplicationListener;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;

/**
 * An application that has nothing but the management port, as it starts with {@code java -jar}; the store is a
 * stand-in.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class ManagementPortTests {

    private static final String PROBLEM = "application/problem+json";
    private static final int ROWS_BEYOND_THE_BUFFER = 5_000;

    private final AtomicReference<@Nullable Thread> serving = new AtomicReference<>();
    private final AtomicReference<@Nullable String> obstacle = new AtomicReference<>();
    private final AtomicReference<Consumer<Consumer<StoredPost>>> rows = new AtomicReference<>(none -> {});
    private final AtomicReference<@Nullable TomcatWebServer> server = new AtomicReference<>();
    private final HttpClient http = HttpClient.newHttpClient();
    private final ConfigurableApplicationContext context = start();
    private final String base =
            "http://127.0.0.1:" + context.getEnvironment().getRequiredProperty("local.management.port");

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Application {}

    @AfterAll
    void close() {
        context.close();
        http.close();
    }

    @Test
    void listensOnLoopbackUnlessItIsTold() throws Exception {
        InetAddress loopback = InetAddress.getByAddress(new byte[] {127, 0, 0, 1});
        TomcatWebServer listening = Objects.requireNonNull(server.get());
        ProtocolHandler handler = listening.getTomcat().getConnector().getProtocolHandler();
        assertThat(handler instanceof AbstractProtocol<?> protocol ? protocol.getAddress() : null)
                .isEqualTo(loopback);
    }

    @Test
    void servesWithPlatformThreadsWhereTheApplicationHasVirtualOnes() throws Exception {
        assertThat(get("/inspector/pending").statusCode()).isEqualTo(200);
        assertThat(serving.get()).isNotNull().satisfies(thread -> assertThat(thread.isVirtual())
                .isFalse());
    }

    @ParameterizedTest
    @ValueSource(strings = {"health", "health/liveness", "health/readiness", "info", "prometheus"})
    void showsHealthInfoAndMetricsToWhoeverAsksUnderWhateverName(String page) throws Exception {
        HttpRequest scrape = request("/actuator/" + page)
                .header("Origin", "http://prometheus")
                .build();
        assertThat(http.send(scrape, BodyHandlers.ofString()).statusCode()).isEqualTo(200);
    }

    @ParameterizedTest
    @ValueSource(strings = {"env", "heapdump", "threaddump", "loggers", "shutdown", "beans", "configprops", "mappings"})
    void showsNothingElse(String page) throws Exception {
        assertProblem(404, get("/actuator/" + page));
    }

    @Test
    void tellsTheBuildAndWhatItRunsOn() throws Exception {
        assertThat(get("/actuator/info").body()).contains("\"spring-boot\":\"4.", "\"java\":{");
    }

    @Test
    void isNotReadyWhileTheStoreIsNotAndSaysWhy() throws Exception {
        obstacle.set("it is recovering");
        try {
            HttpResponse<String> answer = get("/actuator/health/readiness");
            assertThat(answer.statusCode()).isEqualTo(503);
            assertThat(answer.body()).contains("it is recovering");
            assertThat(get("/actuator/health/liveness").statusCode()).isEqualTo(200);
        } finally {
            obstacle.set(null);
        }
    }

    @ParameterizedTest
    @CsvSource({
        "GET, /inspector/nothing, 404",
        "GET, /inspector/reset, 405",
        "POST, /inspector/count, 405",
        "POST, /inspector/load, 415",
        "GET, /inspector/visible, 400",
        "GET, /inspector/visible?ids=1, 400",
        "GET, /inspector/count, 503"
    })
    void refusesAsAProblem(String method, String path, int status) throws Exception {
        assertProblem(
                status, send(request(path).method(method, BodyPublishers.ofString("x".repeat(method.length() - 3)))));
    }

    @Test
    void anExportThatFailsBeforeItsFirstRowIsA503() throws Exception {
        rows.set(ManagementPortTests::fail);
        assertProblem(503, get("/inspector/posts"));
    }

    @Test
    void anExportThatBreaksOffHasNoEnd() {
        rows.set(consumer -> {
            for (int row = 0; row < ROWS_BEYOND_THE_BUFFER; row++) {
                consumer.accept(new StoredPost(new UUID(0, row), "content", null));
            }
            fail(consumer);
        });
        assertThatExceptionOfType(IOException.class).isThrownBy(() -> get("/inspector/posts"));
    }

    @Test
    void aLargeBodyThatIsRefusedIsAnsweredAfterItsEnd() throws Exception {
        String lines =
                IntStream.range(0, 300_000).mapToObj(i -> "{\"no\":\"post\"}").collect(Collectors.joining("\n"));
        HttpRequest.Builder load = request("/inspector/load")
                .header("Content-Type", "application/x-ndjson")
                .POST(BodyPublishers.ofString(lines));
        HttpResponse<String> answer = send(load);
        assertProblem(400, answer);
        assertThat(answer.body()).contains("line 1");
    }

    private static void fail(Consumer<StoredPost> ignored) {
        throw new StoreUnavailableException("the store is gone");
    }

    private static void assertProblem(int status, HttpResponse<String> answer) {
        assertThat(answer.statusCode()).as(answer.body()).isEqualTo(status);
        assertThat(answer.headers().firstValue("Content-Type").orElse("")).startsWith(PROBLEM);
    }

    private HttpResponse<String> get(String path) throws Exception {
        return send(request(path));
    }

    private HttpResponse<String> send(HttpRequest.Builder request) throws Exception {
        return http.send(request.build(), BodyHandlers.ofString());
    }

    private HttpRequest.Builder request(String path) {
        String token =
                Base64.getEncoder().encodeToString("runner:secret".getBytes(java.nio.charset.StandardCharsets.UTF_8));
        return HttpRequest.newBuilder(URI.create(base + path))
                .timeout(Duration.ofSeconds(20))
                .header("Authorization", "Basic " + token);
    }

    private ConfigurableApplicationContext start() {
        ApplicationListener<WebServerInitializedEvent> listens = event -> {
            if (event instanceof ServletWebServerInitializedEvent started
                    && "management".equals(started.getApplicationContext().getServerNamespace())
                    && started.getWebServer() instanceof TomcatWebServer tomcat) {
                server.set(tomcat);
            }
        };
        return new SpringApplicationBuilder(Application.class)
                .listeners(listens)
                .initializers(context -> register(context))
                .run(
                        "--server.port=-1",
                        "--management.server.port=0",
                        "--spring.threads.virtual.enabled=true",
                        "--writepath.inspector.token=secret");
    }

    private void register(ConfigurableApplicationContext context) {
        var beans = context.getBeanFactory();
        beans.registerSingleton("store", store());
        beans.registerSingleton("loader", unasked(PostLoader.class, Map.of()));
        beans.registerSingleton("sizes", unasked(StoreSizes.class, Map.of()));
        InFlight noticing = () -> {
            serving.set(Thread.currentThread());
            return 0;
        };
        beans.registerSingleton("inFlight", noticing);
    }

    @SuppressWarnings("unchecked")
    private StoreInspector store() {
        return unasked(
                StoreInspector.class,
                Map.of(
                        "assertReady",
                        given -> {
                            String why = obstacle.get();
                            if (why != null) {
                                throw new StoreUnavailableException(why);
                            }
                        },
                        "forEach",
                        given -> rows.get().accept((Consumer<StoredPost>) given[0]),
                        "count",
                        given -> {
                            throw new StoreUnavailableException("the store is gone");
                        }));
    }

    private static <T> T unasked(Class<T> port, Map<String, Consumer<Object[]>> known) {
        return port.cast(Proxy.newProxyInstance(port.getClassLoader(), new Class<?>[] {port}, (self, method, given) -> {
            Consumer<Object[]> answer = known.get(method.getName());
            if (answer == null) {
                throw new UnsupportedOperationException(method.getName());
            }
            answer.accept(given);
            return null;
        }));
    }
}
