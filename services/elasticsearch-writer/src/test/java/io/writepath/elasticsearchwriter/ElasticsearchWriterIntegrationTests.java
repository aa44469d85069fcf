package io.writepath.elasticsearchwriter;

import static org.assertj.core.api.Assertions.assertThat;

import io.writepath.post.StoreInspector;
import io.writepath.testsupport.BackingServices;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.UUID;
import org.awaitility.Awaitility;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.SpringApplication;
import org.springframework.context.ConfigurableApplicationContext;

/** The application as it is deployed, from HTTP to the index; the contract in full is tested for all variants alike. */
class ElasticsearchWriterIntegrationTests {

    @ParameterizedTest
    @ValueSource(strings = {"bulk", "single"})
    void aPostIsAnsweredStoredAndFound(String writeMode) throws Exception {
        try (ConfigurableApplicationContext application = start(writeMode)) {
            StoreInspector inspector = application.getBean(StoreInspector.class);
            Awaitility.await().atMost(Duration.ofSeconds(30)).ignoreExceptions().untilAsserted(inspector::reset);
            String posts = "http://127.0.0.1:" + application.getEnvironment().getRequiredProperty("local.server.port")
                    + "/api/posts";
            UUID id = UUID.randomUUID();

            assertThat(send(post(posts, id, "first")).statusCode()).isEqualTo(201);
            assertThat(send(post(posts, id, "first")).statusCode()).isEqualTo(201);
            assertThat(send(post(posts, id, "other")).statusCode()).isEqualTo(409);
            assertThat(send(HttpRequest.newBuilder(URI.create(posts + "/" + id)))
                            .body())
                    .contains("first");
            assertThat(inspector.count()).isEqualTo(1);
        }
    }

    private static ConfigurableApplicationContext start(String writeMode) {
        return SpringApplication.run(
                ElasticsearchWriterApplication.class,
                "--management.server.port=0",
                "--server.port=0",
                "--server.address=127.0.0.1",
                "--writepath.elasticsearch.uris="
                        + BackingServices.elasticsearch().uri(),
                "--writepath.elasticsearch.write-mode=" + writeMode);
    }

    private static HttpRequest.Builder post(String uri, UUID id, String content) {
        String body = "{\"id\":\"%s\",\"content\":\"%s\"}".formatted(id, content);
        return HttpRequest.newBuilder(URI.create(uri))
                .header("Content-Type", "application/json")
                .POST(HttpRequest.BodyPublishers.ofString(body));
    }

    private static HttpResponse<String> send(HttpRequest.Builder request) throws IOException, InterruptedException {
        try (HttpClient client = HttpClient.newHttpClient()) {
            return client.send(request.build(), HttpResponse.BodyHandlers.ofString());
        }
    }
}
