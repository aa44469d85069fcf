package io.writepath.json;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.time.Clock;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PostRequestTests {

    private static final String ID = "0189aaaa-bbbb-8ccc-8ddd-eeeeeeeeeeee";
    private static final Clock CLOCK = Clock.fixed(Instant.parse("2026-01-02T03:04:05.678912Z"), ZoneOffset.UTC);

    @Test
    void keepsTheClientsIdAndCutsTheMomentToMilliseconds() {
        var post = new PostRequest(ID, "한 줄").toPost(CLOCK);
        assertThat(post.id()).hasToString(ID);
        assertThat(post.content()).isEqualTo("한 줄");
        assertThat(post.createdAt()).isEqualTo("2026-01-02T03:04:05.678Z");
    }

    @Test
    void makesAnIdThatCarriesTheMomentWhenTheClientGivesNone() {
        var id = new PostRequest(null, "a").toPost(CLOCK).id();
        assertThat(id.version()).isEqualTo(7);
        assertThat(id.variant()).isEqualTo(2);
        assertThat(id.getMostSignificantBits() >>> 16).isEqualTo(CLOCK.instant().toEpochMilli());
    }

    @Test
    void takesAThousandCharactersOfFourBytesAndNotOneMore() {
        assertThat(new PostRequest(null, "😀".repeat(1_000)).toPost(CLOCK).content())
                .hasSize(2_000);
        assertThat(problems(null, "😀".repeat(1_001)))
                .containsExactly(new FieldProblem("content", "must be at most 1000 characters"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", " ", "\t\n", "\u3000"})
    void refusesBlankContent(String blank) {
        assertThat(problems(null, blank)).containsExactly(new FieldProblem("content", "must not be blank"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"a\0b", "a\ud800", "\udc00a"})
    void refusesWhatAStoreCannotKeepAsItIs(String content) {
        assertThat(problems(null, content)).extracting(FieldProblem::field).containsExactly("content");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "5",
                "0189aaaabbbb8ccc8dddeeeeeeeeeeee",
                "{0189aaaa-bbbb-8ccc-8ddd-eeeeeeeeeeee}",
                "1-1-1-1-1"
            })
    void refusesAnIdThatIsNotACanonicalUuid(String id) {
        assertThat(problems(id, "a")).extracting(FieldProblem::field).containsExactly("id");
    }

    @Test
    void namesEveryFieldThatIsWrong() {
        assertThat(problems("x", null)).extracting(FieldProblem::field).containsExactly("id", "content");
    }

    private static List<FieldProblem> problems(@Nullable String id, @Nullable String content) {
        var refusal = assertThatExceptionOfType(InvalidRequestException.class)
                .isThrownBy(() -> new PostRequest(id, content).toPost(CLOCK))
                .actual();
        return refusal.problems();
    }
}
