package io.writepath.store.elasticsearch;

import static org.assertj.core.api.Assertions.assertThat;

import io.writepath.post.Post;
import io.writepath.post.PostCursor;
import io.writepath.post.PostPage;
import io.writepath.post.PostReader;
import io.writepath.testsupport.BackingServices;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import java.util.UUID;
import java.util.function.IntUnaryOperator;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/** Every page is the part of one total order that it should be, however many posts share a millisecond. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class SearchPagesIntegrationTests {

    private static final long MOMENT = 1_700_000_000_000L;
    private static final String KEYWORD = "영화";

    private final RunningStore store =
            RunningStore.startEmpty(BackingServices.elasticsearch(), "writepath.elasticsearch.shards=3");

    @AfterAll
    void stop() {
        store.inspector().reset();
        store.close();
    }

    @BeforeEach
    void empty() {
        store.inspector().reset();
    }

    @Test
    void pagesAndCursorsGiveEveryPostOnceInOrder() {
        assertPages(loaded(60, number -> number / 5), 1, 2, 3, 4, 5, 12, 59, 60, 100);
    }

    @Test
    void postsOfOneMillisecondAreOrderedByTheirIds() {
        assertPages(loaded(40, number -> 0), 1, 7, 39, 40, 100);
    }

    @Test
    void pagesEndWithTheWindowAndCursorsGoOn() {
        List<Post> posts = loaded(PostReader.WINDOW_POSTS + 50, number -> number / 3);
        for (int size : new int[] {1, 7, 1_000}) {
            int last = PostReader.WINDOW_POSTS / size - 1;
            PostPage page = store.reader().search(KEYWORD, last, size);
            assertThat(page.total()).isEqualTo(posts.size());
            assertThat(page.posts()).isEqualTo(posts.subList(last * size, (last + 1) * size));
            assertThat(page.next()).isEqualTo(PostCursor.of(posts.get((last + 1) * size - 1)));
        }
        assertThat(byCursor(1_000)).isEqualTo(posts);
    }

    @Test
    void aMillisecondMayHoldMorePostsThanTheWindow() {
        List<Post> posts = loaded(PostReader.WINDOW_POSTS + 50, number -> 0);
        assertThat(store.reader().search(KEYWORD, 9, 1_000).posts()).isEqualTo(posts.subList(9_000, 10_000));
        PostPage last = store.reader().searchAfter(KEYWORD, PostCursor.of(posts.get(posts.size() - 101)), 1_000);
        assertThat(last.posts()).isEqualTo(posts.subList(posts.size() - 100, posts.size()));
    }

    @Test
    void aPageBeyondTheLastPostIsEmptyAndCounts() {
        loaded(5, number -> number);
        assertThat(store.reader().search(KEYWORD, 1, 5)).isEqualTo(new PostPage(5L, List.of(), null));
        assertThat(store.reader().search(KEYWORD, 9, 1_000)).isEqualTo(new PostPage(5L, List.of(), null));
        PostCursor end = new PostCursor(Instant.EPOCH, new UUID(0, 0));
        assertThat(store.reader().searchAfter(KEYWORD, end, 5)).isEqualTo(new PostPage(null, List.of(), null));
    }

    /** Such a place is no post's, but may come from a store that keeps microseconds. */
    @Test
    void aPlaceBetweenTwoMillisecondsPartsThem() {
        List<Post> posts = loaded(12, number -> number / 4);
        Instant between = posts.get(4).createdAt().plusNanos(1_000);
        assertThat(store.reader()
                        .searchAfter(KEYWORD, new PostCursor(between, new UUID(0, 0)), 20)
                        .posts())
                .isEqualTo(posts.subList(4, 12));
    }

    @Test
    void aWalkSeesWhatWasThereOnceHoweverManyAreWrittenMeanwhile() {
        List<Post> posts = loaded(40, number -> number / 4);
        PostPage page = store.reader().search(KEYWORD, 0, 3);
        List<Post> seen = new ArrayList<>(page.posts());
        for (PostCursor next = page.next(); next != null; next = page.next()) {
            store.batchWriter().write(List.of(post(Instant.ofEpochMilli(MOMENT + 1_000)), post(next.createdAt())));
            store.inspector().count();
            page = store.reader().searchAfter(KEYWORD, next, 3);
            seen.addAll(page.posts());
        }
        assertThat(seen).doesNotHaveDuplicates().isSortedAccordingTo(Comparator.comparing(PostCursor::of));
        assertThat(seen).containsAll(posts);
    }

    private void assertPages(List<Post> posts, int... sizes) {
        for (int size : sizes) {
            assertThat(byNumber(size, posts.size())).as("pages of %d", size).isEqualTo(posts);
            assertThat(byCursor(size)).as("cursors of %d", size).isEqualTo(posts);
        }
    }

    private List<Post> byNumber(int size, int total) {
        List<Post> seen = new ArrayList<>();
        for (int number = 0; number * size < total; number++) {
            PostPage page = store.reader().search(KEYWORD, number, size);
            assertThat(page.total()).isEqualTo(total);
            seen.addAll(page.posts());
            assertThat(page.next() == null).isEqualTo(seen.size() == total);
        }
        return seen;
    }

    private List<Post> byCursor(int size) {
        PostPage page = store.reader().search(KEYWORD, 0, size);
        List<Post> seen = new ArrayList<>(page.posts());
        for (PostCursor next = page.next(); next != null; next = page.next()) {
            page = store.reader().searchAfter(KEYWORD, next, size);
            assertThat(page.total()).isNull();
            assertThat(page.posts()).isNotEmpty();
            seen.addAll(page.posts());
        }
        return seen;
    }

    /** Loads posts among others, each so many milliseconds after the first; in the order of a search. */
    private List<Post> loaded(int count, IntUnaryOperator millisecond) {
        Random random = new Random(1);
        List<Post> posts = IntStream.range(0, count)
                .mapToObj(number -> new Post(
                        new UUID(random.nextLong(), random.nextLong()),
                        KEYWORD + " " + number,
                        Instant.ofEpochMilli(MOMENT + millisecond.applyAsInt(number))))
                .toList();
        List<Post> others = posts.stream()
                .limit(10)
                .map(post -> new Post(UUID.randomUUID(), "다른 글", post.createdAt()))
                .toList();
        store.loader().begin();
        store.loader().load(Stream.concat(posts.stream(), others.stream()).toList());
        store.loader().finish();
        return posts.stream().sorted(Comparator.comparing(PostCursor::of)).toList();
    }

    private static Post post(Instant createdAt) {
        return new Post(UUID.randomUUID(), "새 " + KEYWORD, createdAt);
    }
}
