package io.writepath.store.elasticsearch;

import static io.writepath.store.elasticsearch.RunningStore.post;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.writepath.post.Post;
import io.writepath.post.PostBatchWriter.Outcome;
import io.writepath.post.PostConflictException;
import io.writepath.post.PostPage;
import io.writepath.testsupport.BackingServices;
import io.writepath.testsupport.ElasticsearchService;
import java.io.IOException;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** With bigrams a keyword is found wherever a text holds it, as it is. */
class BigramIndexIntegrationTests {

    private static final String BIGRAMS = "writepath.elasticsearch.search-index=bigrams";
    private static final List<String> TEXTS = List.of(
            "영화",
            "좋은 영화를 보았다",
            "영 화가 나서 화면을 껐다",
            "화영",
            "재미있다. 정말 재미있다!!",
            "감동적인 스토리와 감독",
            "100%_!'\\ \"done\" * AND OR",
            "Great MOVIE, great movie",
            "great 영화great",
            "😀👍",
            "😀 👍🏽 👨‍👩‍👧",
            "é decomposed e\u0301",
            "\t탭과\n줄",
            "aaaa",
            "a",
            "\u0007bell",
            "{\"match_all\":{}} content:* number*");
    private static final List<String> KEYWORDS = List.of(
            "영화",
            "화영",
            "영",
            "화",
            "감동",
            "미있",
            "있다!!",
            "다. 정",
            " 영화",
            "영 화",
            "100%",
            "%_!",
            "_",
            "*",
            "\"",
            "\\",
            "great",
            "GREAT",
            "화great",
            "😀",
            "😀👍",
            "👍",
            "👨‍👩‍👧",
            "\u200d👩",
            "é",
            "e\u0301",
            "\u0301",
            "과\n줄",
            "aa",
            "aaaaa",
            "a",
            " ",
            "\u0007",
            "없는말",
            "content:*",
            "{\"match_all\":{}}",
            "000061",
            "00c60100d654",
            "ffffff");

    private final ElasticsearchService service = BackingServices.elasticsearch();

    @AfterEach
    void leaveTheIndexAsOthersExpectIt() {
        RunningStore.startEmpty(service).close();
    }

    @Test
    void exactlyTheTextsThatHoldTheKeywordAreFound() {
        try (RunningStore store = RunningStore.startEmpty(service, BIGRAMS, "writepath.elasticsearch.shards=2")) {
            List<Post> posts = TEXTS.stream()
                    .map(text -> new Post(UUID.randomUUID(), text, Instant.ofEpochMilli(TEXTS.indexOf(text))))
                    .toList();
            posts.forEach(store.writer()::write);
            store.inspector().count();
            for (String keyword : KEYWORDS) {
                List<Post> holding = posts.reversed().stream()
                        .filter(post -> post.content().contains(keyword))
                        .toList();
                PostPage found = store.reader().search(keyword, 0, 100);
                assertThat(found.posts()).as(keyword).isEqualTo(holding);
                assertThat(found.total()).as(keyword).isEqualTo(holding.size());
            }
        }
    }

    @Test
    void aTextAndAKeywordMayBeAsLongAsTheyMay() {
        try (RunningStore store = RunningStore.startEmpty(service, BIGRAMS)) {
            Post longest = store.writer().write(post("😀".repeat(999) + "영"));
            store.writer().write(post("😀".repeat(999)));
            store.inspector().count();
            assertThat(store.reader().search(longest.content(), 0, 10).posts()).containsExactly(longest);
        }
    }

    /** Elasticsearch writes a confirmed document again from its source, which has no bigrams. */
    @ParameterizedTest
    @ValueSource(strings = {"bulk", "single"})
    void aRepeatedPostIsStillFoundAndSoIsOneThatWasRefusedAnotherContent(String mode) {
        try (RunningStore store =
                RunningStore.startEmpty(service, BIGRAMS, "writepath.elasticsearch.write-mode=" + mode)) {
            Post first = store.writer().write(post("좋은 영화를 보았다"));
            Post second = store.writer().write(post("감동적인 스토리"));

            assertThat(store.writer().write(first)).isEqualTo(first);
            assertThatThrownBy(() -> store.writer().write(post(second.id(), "다른 이야기")))
                    .isInstanceOf(PostConflictException.class);

            assertFoundAsFirstWritten(store, first, second);
        }
    }

    @Test
    void aRepeatInABatchIsStillFoundToo() {
        try (RunningStore store = RunningStore.startEmpty(service, BIGRAMS)) {
            Post first = post("좋은 영화를 보았다");
            Post second = post("감동적인 스토리");
            store.batchWriter().write(List.of(first, second));

            assertThat(store.batchWriter().write(List.of(first, post(second.id(), "다른 이야기"), first)))
                    .containsExactly(Outcome.ALREADY_STORED, Outcome.CONFLICTING, Outcome.ALREADY_STORED);

            assertFoundAsFirstWritten(store, first, second);
        }
    }

    private static void assertFoundAsFirstWritten(RunningStore store, Post first, Post second) {
        store.inspector().count();
        assertThat(store.reader().search("화를", 0, 10).posts()).containsExactly(first);
        assertThat(store.reader().search("동적", 0, 10).posts()).containsExactly(second);
        assertThat(store.reader().search("이야", 0, 10).posts()).isEmpty();
    }

    @Test
    void theSourceIsThePostAlone() throws IOException {
        try (RunningStore store = RunningStore.startEmpty(service, BIGRAMS)) {
            Post post = store.writer().write(post("영화"));
            store.writer().write(post);
            store.inspector().count();
            var source = store.connection().get("/posts/_search", Map.of()).at("/hits/hits/0/_source");
            assertThat(source.propertyNames()).containsExactlyInAnyOrder("content", "createdAt");
        }
    }

    @Test
    void wordsAreKeptWithoutAFieldForBigrams() throws IOException {
        try (RunningStore store = RunningStore.startEmpty(service)) {
            var fields = store.connection().get("/posts/_mapping", Map.of()).at("/posts-1/mappings/properties");
            assertThat(fields.propertyNames()).containsExactlyInAnyOrder("content", "createdAt");
            assertThat(store.document(post("영화")).bigrams()).isNull();
        }
    }

    @Test
    void anIndexOfTheOtherKindIsNotReadyUntilItIsReset() {
        RunningStore.startEmpty(service).close();
        try (RunningStore store = RunningStore.start(service, BIGRAMS)) {
            Awaitility.await().atMost(RunningStore.START_MAX).untilAsserted(() -> assertThatThrownBy(
                            store.inspector()::assertReady)
                    .hasMessageContaining("holds words, but ELASTICSEARCH_SEARCH_INDEX is bigrams"));
            assertThat(store.inspector().durability().settings()).containsEntry("search_index", "words");
            store.inspector().reset();
            store.inspector().assertReady();
            assertThat(store.inspector().durability().settings()).containsEntry("search_index", "bigrams");
        }
    }
}
