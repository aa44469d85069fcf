package io.writepath.jpareader;

import static org.assertj.core.api.Assertions.assertThat;

import io.writepath.testsupport.PostgresService;
import io.writepath.testsupport.PublishedContract;
import java.net.http.HttpResponse;
import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.boot.logging.LoggingSystem;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

@ExtendWith(OutputCaptureExtension.class)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class FeedIntegrationTests {

    private static final JsonMapper JSON = new JsonMapper();

    private final PostgresService postgres = RunningReader.fresh("feeds");

    @ParameterizedTest
    @CsvSource({"per-parent, 6", "by-key, 6", "denormalised, 6", "two-queries, 2"})
    void eachStrategyShowsFiveRandomExhibitionsInItsNumberOfStatements(String strategy, int statements) {
        try (RunningReader reader = new RunningReader(postgres, "--writepath.feed.strategy=" + strategy)) {
            PublishedContract contract =
                    new PublishedContract(reader.get("/openapi.yaml").body());
            Set<JsonNode> choices = new HashSet<>();
            RunningReader.Cost cost = reader.costOf(() -> {
                for (int times = 0; times < 4; times++) {
                    HttpResponse<String> answer = reader.get("/api/feed");
                    assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
                    contract.assertAllows("get", "/api/feed", answer);
                    JsonNode exhibitions = JSON.readTree(answer.body()).get("exhibitions");
                    assertThat(exhibitions.valueStream().map(each -> each.get("id")))
                            .hasSize(Feed.PARENTS)
                            .doesNotHaveDuplicates();
                    assertThat(exhibitions.valueStream())
                            .allSatisfy(each -> assertThat(each.get("artworks")).hasSize(DataSet.ARTWORKS_EACH));
                    choices.add(exhibitions);
                }
            });
            assertThat(cost)
                    .isEqualTo(new RunningReader.Cost(
                            4 * statements, 4 * (Feed.PARENTS + Feed.PARENTS * DataSet.ARTWORKS_EACH), 4));
            assertThat(choices).hasSizeGreaterThan(1);
        }
    }

    @Test
    void allStrategiesAnswerTheSameForTheSameExhibitions() {
        Set<String> answers = new HashSet<>();
        for (FeedSettings.Strategy strategy : FeedSettings.Strategy.values()) {
            try (RunningReader reader = new RunningReader(
                    postgres, "--writepath.feed.strategy=" + strategy, "--writepath.feed.choice=3,7,11,23,40")) {
                answers.add(reader.get("/api/feed").body());
            }
        }
        assertThat(answers).hasSize(1);
        JsonNode exhibitions = JSON.readTree(answers.iterator().next()).get("exhibitions");
        assertThat(exhibitions.findValuesAsString("author"))
                .containsExactly("artist-3", "artist-3", "artist-3", "artist-3", "artist-4");
        assertThat(exhibitions.get(1).get("artworks").get(0).get("title").asString())
                .isEqualTo("artwork-61");
        assertThat(exhibitions.valueStream())
                .allSatisfy(each -> assertThat(each.get("isSale").asBoolean())
                        .isEqualTo(each.get("artworks").valueStream().anyMatch(artwork -> artwork.get("forSale")
                                .asBoolean())));
    }

    @ParameterizedTest
    @EnumSource
    void theDatabaseChoosesAtRandomAndJoinsTheAuthorWhereTheStrategySaysSo(
            FeedSettings.Strategy strategy, CapturedOutput output) {
        try (RunningReader reader = new RunningReader(
                postgres, "--writepath.feed.strategy=" + strategy, "--logging.level.org.hibernate.SQL=debug")) {
            reader.get("/api/feed");
        } finally {
            LoggingSystem.get(getClass().getClassLoader()).setLogLevel("org.hibernate.SQL", null);
        }
        assertThat(output.getOut().lines().filter(line -> line.contains("order by random()")))
                .singleElement()
                .asString()
                .contains("fetch first")
                .matches(line -> line.contains("join artist ") == strategy.joinsTheAuthor());
    }
}
