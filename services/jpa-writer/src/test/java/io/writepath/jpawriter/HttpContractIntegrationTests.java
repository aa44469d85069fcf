package io.writepath.jpawriter;

import static org.assertj.core.api.Assertions.assertThat;

import io.writepath.testsupport.BackingServices;
import io.writepath.testsupport.PublishedContract;
import java.net.URLEncoder;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Every answer is also held against the published contract: see {@link PublishedContract}. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class HttpContractIntegrationTests {

    private static final JsonMapper JSON = new JsonMapper();

    private final RunningWriter writer = new RunningWriter(BackingServices.postgres());
    private final PublishedContract contract =
            new PublishedContract(writer.get("/openapi.yaml").body());

    @AfterAll
    void stop() {
        writer.close();
    }

    @BeforeEach
    void empty() {
        assertThat(writer.inspect("POST", "reset").body()).isEqualTo("{\"count\":0}");
    }

    @Test
    void createsAPostAndFindsItAgain() {
        var created = expect(201, "post", "/api/posts", writer.post("{\"content\":\"좋은 영화 😀\"}"));
        String id = created.get("id").asString();
        assertThat(created.get("createdAt").asString()).matches("\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{3}Z");
        var found = expect(200, "get", "/api/posts/{id}", writer.get("/api/posts/" + id));
        assertThat(found.get("content").asString()).isEqualTo("좋은 영화 😀");
        assertThat(found.get("createdAt")).isEqualTo(created.get("createdAt"));
    }

    @Test
    void namesTheCreatedPostInTheLocation() {
        var answer = writer.post("{\"content\":\"a\"}");
        String id = JSON.readTree(answer.body()).get("id").asString();
        assertThat(answer.headers().firstValue("Location")).hasValue("/api/posts/" + id);
    }

    @Test
    void sendsAnAnswerWithItsLengthAndALongOneInChunks() {
        var created = writer.post("{\"content\":\"좋은 영화\"}");
        String id = JSON.readTree(created.body()).get("id").asString();
        assertWhole(created);
        assertWhole(writer.get("/api/posts/" + id));
        assertWhole(search("영화", ""));
        assertWhole(writer.get("/api/posts/5"));
        assertWhole(writer.post("{}"));
        for (int number = 0; number < 20; number++) {
            writer.post("{\"content\":\"%s\"}".formatted("긴 ".repeat(400)));
        }
        var longer = search("긴", "");
        assertThat(longer.headers().firstValue("Transfer-Encoding")).hasValue("chunked");
        assertThat(JSON.readTree(longer.body()).get("posts")).hasSize(20);
    }

    @Test
    void answersARepeatedPostWithTheFirstOneAndStoresOneRow() {
        String body = "{\"id\":\"%s\",\"content\":\"a\"}".formatted(UUID.randomUUID());
        var first = expect(201, "post", "/api/posts", writer.post(body));
        assertThat(expect(201, "post", "/api/posts", writer.post(body))).isEqualTo(first);
        assertThat(writer.inspect("GET", "count").body()).isEqualTo("{\"count\":1}");
    }

    @Test
    void refusesATakenIdWithOtherContentAndKeepsTheFirst() {
        UUID id = UUID.randomUUID();
        writer.post("{\"id\":\"%s\",\"content\":\"first\"}".formatted(id));
        expect(409, "post", "/api/posts", writer.post("{\"id\":\"%s\",\"content\":\"other\"}".formatted(id)));
        assertThat(writer.get("/api/posts/" + id).body()).contains("first");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "{}|content",
                "{\"content\":\" \"}|content",
                "{\"content\":null}|content",
                "{\"content\":5}|content",
                "{\"content\":true}|content",
                "{\"content\":[\"a\"]}|content",
                "{\"content\":\"a\\u0000b\"}|content",
                "{\"content\":\"a\\ud800\"}|content",
                "{\"content\":\"a\",\"id\":\"5\"}|id",
                "{\"content\":\"a\",\"id\":5}|id",
                "{\"content\":\"a\",\"id\":null}|id",
                "{\"content\":\"a\",\"extra\":1}|extra",
                "{\"content\":\"a\",\"content\":\"b\"}|body",
                "{\"content\":\"a\"} {}|body",
                "{\"content\":|body",
                "[]|body",
                "null|body",
                "5|body"
            })
    void refusesABadBodyNamingTheFieldAndStoresNothing(String body, String field) {
        var problem = expect(400, "post", "/api/posts", writer.post(body));
        assertThat(problem.get("errors").get(0).get("field").asString()).isEqualTo(field);
        assertThat(writer.inspect("GET", "count").body()).isEqualTo("{\"count\":0}");
    }

    @Test
    void refusesABodyOver16KiBWhetherItsLengthIsToldOrNot() {
        String large = "{\"content\":\"%s\"}".formatted("a".repeat(20_000));
        expect(413, "post", "/api/posts", writer.post(large));
        var chunked = json().POST(BodyPublishers.fromPublisher(BodyPublishers.ofString(large)));
        expect(413, "post", "/api/posts", writer.send(chunked));
    }

    @Test
    void refusesOtherTypesOfBodyAndOfAnswer() {
        var text = writer.request("/api/posts")
                .header("Content-Type", "text/plain")
                .POST(BodyPublishers.ofString("a"));
        expect(415, "post", "/api/posts", writer.send(text));
        for (String form : List.of("multipart/form-data", "multipart/form-data; boundary=x")) {
            var request = writer.request("/api/posts").header("Content-Type", form);
            expect(415, "post", "/api/posts", writer.send(request.POST(BodyPublishers.ofString("a"))));
            assertProblem(
                    404,
                    writer.send(writer.request("/nothing")
                            .header("Content-Type", form)
                            .GET()));
        }
        var html = json().header("Accept", "text/html").POST(BodyPublishers.ofString("{\"content\":\"a\"}"));
        expect(406, "post", "/api/posts", writer.send(html));
    }

    @Test
    void answersWhatTheContractDoesNotHaveAsAProblemToo() {
        assertProblem(405, writer.send(writer.request("/api/posts").DELETE()));
        assertProblem(404, writer.get("/nothing"));
        assertProblem(404, writer.get("/inspector/ready"));
        assertProblem(400, writer.get("/api/posts/%00"));
    }

    @Test
    void findsNothingUnderAnUnknownIdAndRefusesWhatIsNone() {
        expect(404, "get", "/api/posts/{id}", writer.get("/api/posts/" + UUID.randomUUID()));
        expect(400, "get", "/api/posts/{id}", writer.get("/api/posts/5"));
    }

    @Test
    void searchesNewestFirstUpToTheSizeAndCountsAll() {
        for (String content : new String[] {"영화 하나", "둘", "영화 셋", "영화 넷"}) {
            writer.post("{\"content\":\"%s\"}".formatted(content));
        }
        var page = expect(200, "get", "/api/posts", search("영화", "&size=2"));
        assertThat(page.get("total").asInt()).isEqualTo(3);
        assertThat(page.get("posts").findValuesAsString("content")).containsExactly("영화 넷", "영화 셋");
    }

    @Test
    void givesOnePageAfterTheOtherByNumberAsByCursor() {
        for (int number = 0; number < 7; number++) {
            writer.post("{\"content\":\"영화 %d\"}".formatted(number));
        }
        List<JsonNode> numbered = new ArrayList<>();
        for (int page = 0; page < 3; page++) {
            numbered.add(expect(200, "get", "/api/posts", search("영화", "&size=3&page=" + page)));
        }
        var first = expect(200, "get", "/api/posts", search("영화", "&size=3"));
        var second = expect(200, "get", "/api/posts", search("영화", "&size=3&after=" + next(first)));
        var third = expect(200, "get", "/api/posts", search("영화", "&size=3&after=" + next(second)));
        assertThat(numbered).extracting(page -> page.get("total").asInt()).containsOnly(7);
        assertThat(numbered.stream().map(page -> page.get("posts")))
                .containsExactly(first.get("posts"), second.get("posts"), third.get("posts"));
        assertThat(second.has("total")).isFalse();
        assertThat(third.get("posts")).hasSize(1);
        assertThat(third.has("next")).isFalse();
        assertThat(numbered.getLast().has("next")).isFalse();
    }

    @ParameterizedTest
    @ValueSource(strings = {"&page=1", "&page=499", "&size=1&page=9999", "&size=1000&page=9"})
    void aPageBeyondTheLastPostIsEmpty(String page) {
        writer.post("{\"content\":\"영화\"}");
        var found = expect(200, "get", "/api/posts", search("영화", page));
        assertThat(found.get("total").asInt()).isOne();
        assertThat(found.get("posts")).isEmpty();
        assertThat(found.has("next")).isFalse();
    }

    @Test
    void aKeywordMayBeAsLongAsAContentInAnyScript() {
        String longest = "😀".repeat(1_000);
        writer.post("{\"content\":\"%s\"}".formatted(longest));
        assertThat(expect(200, "get", "/api/posts", search(longest, ""))
                        .get("total")
                        .asInt())
                .isOne();
    }

    @Test
    void takesTheKeywordAsItIsAndNotAsAPattern() {
        writer.post("{\"content\":\"100%_!'\\\\ done\"}");
        writer.post("{\"content\":\"100 times\"}");
        for (String keyword : new String[] {"100%", "%_!", "'", "\\"}) {
            assertThat(expect(200, "get", "/api/posts", search(keyword, ""))
                            .get("total")
                            .asInt())
                    .as(keyword)
                    .isEqualTo(1);
        }
        assertThat(expect(200, "get", "/api/posts", search("%%", ""))
                        .get("total")
                        .asInt())
                .isZero();
    }

    @ParameterizedTest
    @CsvSource({
        "'',keyword",
        "?keyword=,keyword",
        "?keyword=%20,keyword",
        "?keyword=a%00,keyword",
        "?keyword=a&size=0,size",
        "?keyword=a&size=1001,size",
        "?keyword=a&size=x,size",
        "?keyword=a&page=-1,page",
        "?keyword=a&page=x,page",
        "?keyword=a&page=500,page",
        "?keyword=a&size=1000&page=10,page",
        "?keyword=a&page=2147483647,page",
        "?keyword=a&after=,after",
        "?keyword=a&after=nonsense,after",
        "?keyword=a&after=%27%20OR%201=1,after",
        "?keyword=a&page=0&after=AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA,page",
    })
    void refusesABadSearchNamingTheParameter(String query, String field) {
        var problem = expect(400, "get", "/api/posts", writer.get("/api/posts" + query));
        assertThat(problem.get("errors").get(0).get("field").asString()).isEqualTo(field);
    }

    private static String next(JsonNode page) {
        return page.get("next").asString();
    }

    private HttpResponse<String> search(String keyword, String rest) {
        return writer.get("/api/posts?keyword=" + URLEncoder.encode(keyword, StandardCharsets.UTF_8) + rest);
    }

    private HttpRequest.Builder json() {
        return writer.request("/api/posts").header("Content-Type", "application/json");
    }

    private JsonNode expect(int status, String method, String path, HttpResponse<String> answer) {
        assertThat(answer.statusCode()).as(answer.body()).isEqualTo(status);
        contract.assertAllows(method, path, answer);
        return JSON.readTree(answer.body());
    }

    private static void assertWhole(HttpResponse<String> answer) {
        assertThat(answer.headers().firstValue("Transfer-Encoding")).isEmpty();
        assertThat(answer.headers().firstValueAsLong("Content-Length"))
                .hasValue(answer.body().getBytes(StandardCharsets.UTF_8).length);
    }

    private static void assertProblem(int status, HttpResponse<String> answer) {
        assertThat(answer.statusCode()).as(answer.body()).isEqualTo(status);
        assertThat(answer.headers().firstValue("Content-Type")).hasValue("application/problem+json");
        assertThat(JSON.readTree(answer.body()).get("status").asInt()).isEqualTo(status);
    }
}
