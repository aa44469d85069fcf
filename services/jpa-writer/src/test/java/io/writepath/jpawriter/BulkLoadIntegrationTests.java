package io.writepath.jpawriter;

import static org.assertj.core.api.Assertions.assertThat;

import io.writepath.testsupport.BackingServices;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.util.UUID;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** The inspector's bulk load, from HTTP to the table and to what a search finds. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class BulkLoadIntegrationTests {

    private static final JsonMapper JSON = new JsonMapper();
    private static final String LINES = "application/x-ndjson";

    private final RunningWriter writer = new RunningWriter(
            BackingServices.postgres().inSchema("loaded"), "--writepath.postgres.search-index=bigram");

    @AfterAll
    void stop() {
        writer.close();
    }

    @BeforeEach
    void empty() {
        writer.inspect("POST", "reset");
        writer.inspect("POST", "load/begin");
    }

    @Test
    void whatWasLoadedIsFoundOnceTheLoadIsFinished() {
        assertThat(writer.actuator("health/readiness").statusCode()).isEqualTo(503);
        String text = "역슬래시 \\\\ 와 \\\"따옴표\\\" 그리고\\n줄\\t바꿈";
        assertThat(load(LINES, line(1, text) + "\n" + line(2, "둘")).body()).isEqualTo("{\"posts\":2}");

        JsonNode finished = JSON.readTree(writer.inspect("POST", "load/finish").body());

        assertThat(finished.get("build_seconds").asDouble()).isPositive();
        assertThat(finished.get("settle_seconds").asDouble()).isPositive();
        assertThat(writer.actuator("health/readiness").statusCode()).isEqualTo(200);
        assertThat(writer.inspect("GET", "count").body()).isEqualTo("{\"count\":2}");
        JsonNode post = JSON.readTree(writer.get("/api/posts/" + new UUID(0, 1)).body());
        assertThat(post.get("content").asString()).isEqualTo("역슬래시 \\ 와 \"따옴표\" 그리고\n줄\t바꿈");
        assertThat(post.get("createdAt").asString()).isEqualTo("2026-01-02T03:04:05.001Z");
        assertThat(writer.get("/api/posts?keyword=%EB%94%B0%EC%98%B4").body()).contains("\"total\":1");
    }

    @Test
    void aBadLineIsNamedAndNothingOfItsRequestIsStored() {
        String good = IntStream.range(1, 5_000)
                .mapToObj(number -> line(number, "a".repeat(400)))
                .collect(Collectors.joining("\n"));
        HttpResponse<String> answer = load(LINES, line(0, " ") + "\n" + good);
        assertThat(answer.statusCode()).isEqualTo(400);
        assertThat(answer.headers().firstValue("Content-Type")).hasValue("application/problem+json");
        assertThat(answer.body()).contains("line 1: content must not be blank");
        assertThat(writer.inspect("GET", "count").body()).isEqualTo("{\"count\":0}");
    }

    @Test
    void aTakenIdRefusesItsRequestAsAWhole() {
        load(LINES, line(1, "first"));
        HttpResponse<String> answer = load(LINES, line(2, "second") + "\n" + line(1, "again"));
        assertThat(answer.statusCode()).isEqualTo(409);
        assertThat(answer.body()).contains(new UUID(0, 1).toString());
        assertThat(writer.inspect("GET", "count").body()).isEqualTo("{\"count\":1}");
    }

    @Test
    void otherTypesOfBodyAreRefused() {
        assertThat(load("application/json", line(1, "a")).statusCode()).isEqualTo(415);
        assertThat(writer.inspect("POST", "load").statusCode()).isEqualTo(415);
        assertThat(writer.inspect("GET", "load").statusCode()).isEqualTo(405);
    }

    @Test
    void theSizesAddUpToTheWholeTable() {
        load(LINES, line(1, "좋은 영화"));
        writer.inspect("POST", "load/finish");
        JsonNode sizes = JSON.readTree(writer.inspect("GET", "sizes").body());
        assertThat(sizes.get("documents").asInt()).isOne();
        JsonNode parts = sizes.get("parts");
        assertThat(parts.propertyNames())
                .containsExactlyInAnyOrder("table", "toast", "index posts_pkey", "index posts_by_bigram");
        assertThat(parts.valueStream().mapToLong(JsonNode::asLong).sum())
                .isEqualTo(sizes.get("store_bytes").asLong());
        assertThat(sizes.get("search_index_bytes").asLong())
                .isPositive()
                .isEqualTo(parts.get("index posts_by_bigram").asLong());
    }

    private HttpResponse<String> load(String type, String body) {
        return writer.send(
                writer.inspection("load").header("Content-Type", type).POST(BodyPublishers.ofString(body)));
    }

    private static String line(int number, String content) {
        return "{\"id\":\"%s\",\"content\":\"%s\",\"createdAt\":\"2026-01-02T03:04:05.%03dZ\"}"
                .formatted(new UUID(0, number), content, number % 1000);
    }
}
