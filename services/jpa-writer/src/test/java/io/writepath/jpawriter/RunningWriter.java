package io.writepath.jpawriter;

import io.writepath.testsupport.PostgresService;
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
import java.util.List;
import org.springframework.boot.SpringApplication;
import org.springframework.context.ConfigurableApplicationContext;

/** The application as it is deployed, on ports of its own, spoken to over HTTP. */
final class RunningWriter implements AutoCloseable {

    private static final String TOKEN = "token";
    private static final Duration PATIENCE = Duration.ofSeconds(15);

    private final HttpClient http = HttpClient.newHttpClient();
    private final ConfigurableApplicationContext context;
    private final String base;
    private final String management;

    RunningWriter(PostgresService postgres, String... settings) {
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
        context = SpringApplication.run(JpaWriter.class, arguments.toArray(String[]::new));
        base = "http://127.0.0.1:" + context.getEnvironment().getRequiredProperty("local.server.port");
        management = "http://127.0.0.1:" + context.getEnvironment().getRequiredProperty("local.management.port");
    }

    HttpResponse<String> post(String json) {
        return send(
                request("/api/posts").header("Content-Type", "application/json").POST(BodyPublishers.ofString(json)));
    }

    HttpResponse<String> get(String path) {
        return send(request(path));
    }

    HttpRequest.Builder request(String path) {
        return HttpRequest.newBuilder(URI.create(base + path)).timeout(PATIENCE);
    }

    /** What Actuator answers. */
    HttpResponse<String> actuator(String page) {
        return manage("actuator/" + page);
    }

    /** What the management port answers. */
    HttpResponse<String> manage(String path) {
        return send(HttpRequest.newBuilder(URI.create(management + "/" + path)).timeout(PATIENCE));
    }

    HttpResponse<String> inspect(String method, String page) {
        return send(inspection(page).method(method, BodyPublishers.noBody()));
    }

    HttpRequest.Builder inspection(String page) {
        URI uri = URI.create(management + "/inspector/" + page);
        String credentials = Base64.getEncoder().encodeToString(("runner:" + TOKEN).getBytes(StandardCharsets.UTF_8));
        return HttpRequest.newBuilder(uri)
                .header("Authorization", "Basic " + credentials)
                .timeout(PATIENCE);
    }

    HttpResponse<String> send(HttpRequest.Builder request) {
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
    public void close() {
        context.close();
        http.close();
    }
}
