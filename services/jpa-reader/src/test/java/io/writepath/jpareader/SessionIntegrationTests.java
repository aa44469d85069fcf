package io.writepath.jpareader;

import static org.assertj.core.api.Assertions.assertThat;

import io.writepath.testsupport.PostgresService;
import io.writepath.testsupport.PublishedContract;
import java.net.http.HttpResponse;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Sessions, users and points over HTTP; every answer is also held against the published contract. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class SessionIntegrationTests {

    private static final JsonMapper JSON = new JsonMapper();

    private final PostgresService postgres = RunningReader.fresh("sessions");
    private final RunningReader reader = new RunningReader(postgres);
    private final PublishedContract contract =
            new PublishedContract(reader.get("/openapi.yaml").body());

    @AfterAll
    void stop() {
        reader.close();
    }

    @Test
    void aSessionOfALogInAndFiveListsIsElevenStatements() {
        RunningReader.Cost cost = reader.costOf(() -> {
            String token = reader.token();
            for (int page = 0; page < 3; page++) {
                list(token, "?size=10&page=" + page);
            }
            list(token, "?name=user-4");
            list(token, "?name=nobody");
        });
        // The log-in's row; full lists and a search for 4 and 40 to 49, each with its count; a search in vain.
        assertThat(cost).isEqualTo(new RunningReader.Cost(1 + 5 * 2, 1 + 3 * (10 + 1) + (11 + 1) + (0 + 1), 6));
    }

    @Test
    void listsUsersByIdInPagesWithTheNumberOfAll() {
        JsonNode last = list(reader.token(), "?size=20&page=2");
        assertThat(last.get("users").valueStream().map(user -> user.get("id").asInt()))
                .containsExactlyElementsOf(IntStream.rangeClosed(41, 50).boxed().toList());
        assertThat(last.get("users").get(0).get("name").asString()).isEqualTo("user-41");
        assertThat(last.get("page").asInt()).isEqualTo(2);
        assertThat(last.get("size").asInt()).isEqualTo(20);
        assertThat(last.get("total").asInt()).isEqualTo(RunningReader.USERS);
        assertThat(list(reader.token(), "?page=3").get("users")).isEmpty();
    }

    @Test
    void searchesForANameAsItIsAndNotAsAPattern() {
        JsonNode found = list(reader.token(), "?name=er-1&size=2");
        assertThat(found.get("users").findValuesAsString("name")).containsExactly("user-1", "user-10");
        assertThat(found.get("total").asInt()).isEqualTo(11);
        assertThat(list(reader.token(), "?name=user%25").get("total").asInt()).isZero();
        assertThat(list(reader.token(), "?name=user_1").get("total").asInt()).isZero();
    }

    @ParameterizedTest
    @CsvSource({"user-17, password-18", "user-0, password-0", "nobody, password-17"})
    void nobodyLogsInWithAnothersPassword(String name, String password) {
        JsonNode problem = expect(401, "post", "/api/sessions", reader.logIn(name, password));
        assertThat(problem.get("detail").asString()).contains("name and password");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "{}|name",
                "{\"name\":\"user-1\"}|password",
                "{\"name\":\"a\\u0000\",\"password\":\"b\"}|name",
                "{\"name\":\"a\",\"password\":\"b\",\"extra\":1}|extra",
                "[]|body"
            })
    void aBadLogInIsRefusedNamingTheField(String body, String field) {
        JsonNode problem = expect(400, "post", "/api/sessions", reader.post("/api/sessions", body));
        assertThat(problem.get("errors").get(0).get("field").asString()).isEqualTo(field);
    }

    @Test
    void withoutAValidTokenUsersAreNotListedAndNothingIsAsked() {
        String token = reader.token();
        String[] parts = token.split("\\.", -1);
        List<String> wrong = List.of(
                "",
                "x",
                "..",
                parts[0] + "." + parts[1],
                "18." + parts[1] + "." + parts[2],
                parts[0] + "." + (Long.parseLong(parts[1]) + 1) + "." + parts[2]);
        RunningReader.Cost cost = reader.costOf(() -> {
            expect(401, "get", "/api/users", reader.get("/api/users"));
            expect(
                    401,
                    "get",
                    "/api/users",
                    reader.send(reader.request("/api/users").header("Authorization", "Basic " + token)));
            for (String each : wrong) {
                expect(401, "get", "/api/users", reader.send(reader.bearing(each, "/api/users")));
            }
        });
        assertThat(cost).isEqualTo(new RunningReader.Cost(0, 0, 0));
    }

    @Test
    void aTokenExpiresAndOneOfAnotherInstanceIsValid() {
        try (RunningReader other = new RunningReader(postgres, "--writepath.reader.token-lifetime=0s")) {
            assertThat(other.send(other.bearing(reader.token(), "/api/users")).statusCode())
                    .isEqualTo(200);
            JsonNode problem =
                    expect(401, "get", "/api/users", reader.send(reader.bearing(other.token(), "/api/users")));
            assertThat(problem.get("detail").asString()).contains("expired");
        }
    }

    @ParameterizedTest
    @CsvSource({"?size=0,size", "?size=1001,size", "?page=-1,page", "?page=999999999&size=1000,page", "?name=%00,name"})
    void aBadListIsRefusedNamingTheParameter(String query, String field) {
        JsonNode problem =
                expect(400, "get", "/api/users", reader.send(reader.bearing(reader.token(), "/api/users" + query)));
        assertThat(problem.get("errors").get(0).get("field").asString()).isEqualTo(field);
    }

    @Test
    void theSumOfAUsersPointsIsOneStatement() {
        long sum = RunningReader.number(postgres, "SELECT sum(amount) FROM point WHERE user_id = 17");
        RunningReader.Cost cost = reader.costOf(() -> {
            JsonNode answer = expect(200, "get", "/api/points/{user}", reader.get("/api/points/17"));
            assertThat(answer.get("user").asInt()).isEqualTo(17);
            assertThat(answer.get("points").asLong()).isEqualTo(sum).isPositive();
        });
        assertThat(cost).isEqualTo(new RunningReader.Cost(1, 1, 1));
    }

    @Test
    void whoHasNoPointsIsA404AndWhatIsNoNumberA400() {
        expect(404, "get", "/api/points/{user}", reader.get("/api/points/51"));
        expect(400, "get", "/api/points/{user}", reader.get("/api/points/x"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"/api/posts", "/api/posts?keyword=a", "/api/sessions/1", "/inspector/data"})
    void servesNothingElse(String path) {
        assertThat(reader.get(path).statusCode()).isEqualTo(404);
        assertThat(reader.get(path).headers().firstValue("Content-Type")).hasValue("application/problem+json");
    }

    private JsonNode list(String token, String query) {
        return expect(200, "get", "/api/users", reader.send(reader.bearing(token, "/api/users" + query)));
    }

    private JsonNode expect(int status, String method, String path, HttpResponse<String> answer) {
        assertThat(answer.statusCode()).as(answer.body()).isEqualTo(status);
        contract.assertAllows(method, path, answer);
        return JSON.readTree(answer.body());
    }
}
