package io.writepath.web;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.writepath.json.FieldProblem;
import io.writepath.json.InvalidRequestException;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SearchQueryTests {

    @Test
    void whatIsLeftOutHasItsDefault() {
        assertThat(SearchQuery.of(Map.of("keyword", List.of("film")))).isEqualTo(new SearchQuery("film", 20, 0, null));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "abc", "1.5", "0x10", " 7", "7 ", "+7", "\uff15", "007", "--7", "9999999999"})
    void aNumberIsWrittenAsInJson(String text) {
        assertThat(refused(Map.of("keyword", List.of("film"), "size", List.of(text), "page", List.of(text))))
                .containsExactly("size must be a whole number", "page must be a whole number");
    }

    @Test
    void aParameterIsGivenOnce() {
        assertThat(refused(Map.of("keyword", List.of("a", "b"), "size", List.of("1", "x"))))
                .containsExactly("keyword must be given once", "size must be given once");
    }

    @Test
    void everythingWrongIsNamedAtOnce() {
        assertThat(refused(Map.of("size", List.of("0"), "page", List.of("-1"))))
                .containsExactly("keyword must be given", "size must be 1 to 1000", "page must be 0 or more");
        assertThat(refused(Map.of("keyword", List.of(" "), "page", List.of("0"), "after", List.of("nonsense"))))
                .containsExactly(
                        "keyword must not be blank",
                        "page must not be given with after, which says where to go on",
                        "after must be the next of an earlier answer");
    }

    private static List<String> refused(Map<String, List<String>> parameters) {
        var refusal = catchThrowableOfType(InvalidRequestException.class, () -> SearchQuery.of(parameters));
        return refusal.problems().stream().map(FieldProblem::inWords).toList();
    }
}
