package io.writepath.testsupport;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.springframework.boot.SpringApplication;
import org.springframework.context.ConfigurableApplicationContext;

/** An application on PostgreSQL as it is deployed, on ports of its own, spoken to over HTTP. */
public class RunningApplication implements AutoCloseable {

    private static final String TOKEN = "token";
    private static final Duration PATIENCE = Duration.ofSeconds(15);

    private final HttpClient http = HttpClient.newHttpClient();
    private final ConfigurableApplicationContext context;
    private final String base;
    private final String management;

    /** The last setting of a name counts: Spring Boot would make a list of them. */
    public RunningApplication(Class<?> application, PostgresService postgres, String... settings) {
        List<String> arguments = new ArrayList<>(List.of(
                "--server.address=127.0.0.1",
                "--server.port=0",
                "--management.server.port=0",
                "--writepath.inspector.token=" + TOKEN,
                "--spring.datasource.url=" + postgres.jdbcUrl(),
                "--spring.datasource.username=" + postgres.username(),
                "--spring.datasource.password=" + postgres.password(),
                "--spring.datasource.hikari.maximum-pool-size=2"));
        arguments.addAll(List.of(settings));
        Map<String, String> lastOfEach = new LinkedHashMap<>();
        arguments.forEach(argument -> lastOfEach.put(argument.substring(0, argument.indexOf('=')), argument));
        context = SpringApplication.run(application, lastOfEach.values().toArray(String[]::new));
        base = "http://127.0.0.1:" + context.getEnvironment().getRequiredProperty("local.server.port");
        management = "http://127.0.0.1:" + context.getEnvironment().getRequiredProperty("local.management.port");
    }

    public final ConfigurableApplicationContext context() {
        return context;
    }

    public final HttpResponse<String> post(String path, String json) {
        return send(request(path).header("Content-Type", "application/json").POST(BodyPublishers.ofString(json)));
    }

    public final HttpResponse<String> get(String path) {
        return send(request(path));
    }

    public final HttpRequest.Builder request(String path) {
        return HttpRequest.newBuilder(URI.create(base + path)).timeout(PATIENCE);
    }

    /** What Actuator answers. */
    public final HttpResponse<String> actuator(String page) {
        return manage("actuator/" + page);
    }

    /** The value of a metric without labels, or of the only one of its name. */
    public final double metric(String name) {
        String metrics = actuator("prometheus").body();
        return metrics.lines()
                .filter(line -> line.startsWith(name + " ") || line.startsWith(name + "{"))
                .mapToDouble(line -> Double.parseDouble(line.substring(line.lastIndexOf(' '))))
                .findFirst()
                .orElseThrow(() -> new AssertionError(name + " is not among the metrics"));
    }

    /** What the management port answers. */
    public final HttpResponse<String> manage(String path) {
        return send(HttpRequest.newBuilder(URI.create(management + "/" + path)).timeout(PATIENCE));
    }

    public final HttpResponse<String> inspect(String method, String page) {
        return send(inspection(page).method(method, BodyPublishers.noBody()));
    }

    public final HttpRequest.Builder inspection(String page) {
        URI uri = URI.create(management + "/inspector/" + page);
        String credentials = Base64.getEncoder().encodeToString(("runner:" + TOKEN).getBytes(StandardCharsets.UTF_8));
        return HttpRequest.newBuilder(uri)
                .header("Authorization", "Basic " + credentials)
                .timeout(PATIENCE);
    }

    public final HttpResponse<String> send(HttpRequest.Builder request) {
        try {
            return http.send(request.build(), BodyHandlers.ofString());
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(interrupted);
        }
    }

    @Override
    public final void close() {
        context.close();
        http.close();
    }
}
