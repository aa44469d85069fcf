package io.writepath.store.jpa;

import static org.assertj.core.api.Assertions.assertThat;

import io.writepath.post.Post;
import io.writepath.post.PostCursor;
import io.writepath.post.PostPage;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.UUID;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Whatever helps a search, it finds the same, in the same order. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class SearchIntegrationTests {

    private static final Instant MOMENT = Instant.parse("2026-01-02T03:04:05.678Z");
    private static final List<String> TEXTS = List.of(
            "영화",
            "좋은 영화를 보았다",
            "영 화가 나서 화면을 껐다",
            "화영",
            "재미있다. 정말 재미있다!!",
            "재미 있다",
            "감동 그 자체",
            "감동적인 스토리와 감독",
            "100%_!'\\ done",
            "100 times",
            "Great MOVIE, great movie",
            "great 영화great",
            "😀👍",
            "😀 👍🏽 👨‍👩‍👧",
            "é decomposed e\u0301",
            "\t탭과\n줄",
            "aaaa",
            "a",
            "\u0007bell");
    private static final List<String> KEYWORDS = List.of(
            "영화",
            "화영",
            "영",
            "화",
            "감동",
            "재미",
            "미있",
            "재미있다",
            "있다!!",
            "다. 정",
            "화를",
            "를 보",
            " 영화",
            "영 화",
            "그 자체",
            "스토리와 감독",
            "100%",
            "%_!",
            "_",
            "%",
            "!",
            "'",
            "\\",
            "!'\\",
            "great",
            "Great",
            "MOVIE, g",
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
            "\t탭",
            "과\n줄",
            "aa",
            "aaaa",
            "aaaaa",
            "a",
            "\u0007",
            "없는말",
            "영화영화");

    private final Map<SearchIndex, RunningStore> stores = new EnumMap<>(SearchIndex.class);

    @AfterAll
    void stop() {
        stores.values().forEach(RunningStore::close);
    }

    private RunningStore empty(SearchIndex index) {
        RunningStore store = stores.computeIfAbsent(index, RunningStore::startEmpty);
        store.inspector().reset();
        return store;
    }

    @ParameterizedTest
    @EnumSource
    void findsExactlyTheTextsThatHoldTheKeyword(SearchIndex index) {
        RunningStore store = empty(index);
        List<Post> posts = new ArrayList<>();
        for (String text : TEXTS) {
            posts.add(store.writer().write(new Post(UUID.randomUUID(), text, MOMENT.plusMillis(posts.size()))));
        }
        for (String keyword : KEYWORDS) {
            List<Post> holding = posts.reversed().stream()
                    .filter(post -> post.content().contains(keyword))
                    .toList();
            PostPage found = store.reader().search(keyword, 0, 100);
            assertThat(found.posts()).as(keyword).isEqualTo(holding);
            assertThat(found.total()).as(keyword).isEqualTo(holding.size());
        }
    }

    @ParameterizedTest
    @EnumSource
    void pagesAndCursorsGiveEveryPostOnceNewestFirstAndByIdWithinAMoment(SearchIndex index) {
        RunningStore store = empty(index);
        List<Post> posts = new ArrayList<>(posts(53, 4));
        store.load(
                Stream.concat(posts.stream(), Stream.of(post("다른 글", MOMENT))).toList());
        posts.sort(Comparator.comparing(PostCursor::of));
        for (int size : new int[] {1, 4, 7, 52, 53, 100}) {
            assertThat(byNumber(store, size)).as("pages of %d", size).isEqualTo(posts);
            assertThat(byCursor(store, size)).as("cursors over %d", size).isEqualTo(posts);
        }
    }

    @Test
    void aWalkSeesWhatWasThereOnceHoweverManyAreWrittenMeanwhile() {
        RunningStore store = empty(SearchIndex.BIGRAM);
        List<Post> posts = new ArrayList<>(posts(40, 4));
        store.load(posts);
        List<Post> seen = new ArrayList<>();
        PostPage page = store.reader().search("영화", 0, 3);
        seen.addAll(page.posts());
        for (PostCursor next = page.next(); next != null; next = page.next()) {
            store.writer().write(post("새 영화", MOMENT.plusSeconds(1)));
            store.writer().write(post("새 영화", next.createdAt()));
            page = store.reader().searchAfter("영화", next, 3);
            seen.addAll(page.posts());
        }
        assertThat(seen).doesNotHaveDuplicates().isSortedAccordingTo(Comparator.comparing(PostCursor::of));
        assertThat(seen).containsAll(posts);
    }

    @ParameterizedTest
    @EnumSource
    void theInspectorReadsTheIndexBackFromTheCatalog(SearchIndex index) {
        RunningStore store = empty(index);
        assertThat(store.inspector().durability().settings()).containsEntry("search_index", index.spelled());
        store.loader().begin();
        assertThat(store.inspector().durability().settings()).containsEntry("search_index", "none");
        store.loader().finish();
        assertThat(store.inspector().durability().settings()).containsEntry("search_index", index.spelled());
        store.inspector().assertReady();
    }

    @Test
    void anotherStartDropsTheIndexThatItIsNotDeclaredToHave() {
        RunningStore.start("switched", SearchIndex.TRIGRAM).close();
        for (SearchIndex index : List.of(SearchIndex.BIGRAM, SearchIndex.NONE)) {
            try (RunningStore store = RunningStore.start("switched", index)) {
                assertThat(store.inspector().durability().settings()).containsEntry("search_index", index.spelled());
                assertThat(store.sizes().parts().keySet().stream().filter(part -> part.startsWith("index posts_by_")))
                        .hasSize(index == SearchIndex.NONE ? 0 : 1);
            }
        }
    }

    private static List<Post> byNumber(RunningStore store, int size) {
        List<Post> seen = new ArrayList<>();
        PostPage page;
        int number = 0;
        do {
            page = store.reader().search("영화", number++, size);
            assertThat(page.total()).isEqualTo(53);
            seen.addAll(page.posts());
            assertThat(page.next() == null).isEqualTo(seen.size() == 53);
        } while (!page.posts().isEmpty());
        return seen;
    }

    private static List<Post> byCursor(RunningStore store, int size) {
        PostPage page = store.reader().search("영화", 0, size);
        List<Post> seen = new ArrayList<>(page.posts());
        for (PostCursor next = page.next(); next != null; next = page.next()) {
            page = store.reader().searchAfter("영화", next, size);
            assertThat(page.total()).isNull();
            assertThat(page.posts()).isNotEmpty();
            seen.addAll(page.posts());
        }
        return seen;
    }

    /** So many to each millisecond, with ids on both sides of what a signed comparison would part. */
    private static List<Post> posts(int count, int aMillisecond) {
        Random random = new Random(1);
        return IntStream.range(0, count)
                .mapToObj(number -> new Post(
                        new UUID(random.nextLong(), random.nextLong()),
                        "영화 " + number,
                        MOMENT.plusMillis(number / aMillisecond)))
                .toList();
    }

    private static Post post(String content, Instant createdAt) {
        return new Post(UUID.randomUUID(), content, createdAt);
    }
}
