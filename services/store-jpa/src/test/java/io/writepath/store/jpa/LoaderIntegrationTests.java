package io.writepath.store.jpa;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.writepath.post.LoadRefusedException;
import io.writepath.post.Post;
import io.writepath.post.PostLoader;
import io.writepath.post.StoreUnavailableException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class LoaderIntegrationTests {

    private static final Instant MOMENT = Instant.parse("2026-01-02T03:04:05.678Z");

    private final RunningStore store = RunningStore.startEmpty(SearchIndex.BIGRAM);

    @AfterAll
    void stop() {
        store.close();
    }

    @BeforeEach
    void empty() {
        store.inspector().reset();
    }

    @Test
    void everyTextArrivesAsItIs() {
        List<Post> posts = new ArrayList<>();
        for (String text :
                List.of("\\N", "\\.", "a\\tb\\\\", "a\tb\nc\rd", "'\"`", "😀 영화", " padded ", "x".repeat(1_000))) {
            posts.add(post(text));
        }
        store.load(posts);
        assertThat(posts)
                .allSatisfy(post -> assertThat(store.reader().find(post.id())).hasValue(post));
        assertThat(store.inspector().count()).isEqualTo(posts.size());
    }

    @Test
    void takesAsManyAsOneCallMayHave() {
        List<Post> posts = IntStream.range(0, PostLoader.POSTS_MAX)
                .mapToObj(number -> post("영화 " + number))
                .toList();
        store.load(posts);
        assertThat(store.sizes().documents()).isEqualTo(PostLoader.POSTS_MAX);
        assertThat(store.reader().search("영화", 0, 1).total()).isEqualTo(PostLoader.POSTS_MAX);
    }

    @Test
    void aRefusedPostKeepsItsWholeCallOut() {
        Post first = post("first");
        store.loader().load(List.of(first));
        for (Post bad : List.of(new Post(first.id(), "again", MOMENT), post("x".repeat(1_001)))) {
            assertThatExceptionOfType(LoadRefusedException.class)
                    .isThrownBy(() -> store.loader().load(List.of(post("good"), bad, post("good"))));
        }
        assertThat(store.inspector().count()).isOne();
    }

    @Test
    void betweenBeginAndFinishTheStoreIsNotReadyAndAgainAsDeclaredAfterwards() {
        store.loader().begin();
        store.loader().begin();
        assertThatExceptionOfType(StoreUnavailableException.class)
                .isThrownBy(store.inspector()::assertReady)
                .withMessageContaining("POSTGRES_SEARCH_INDEX is 'bigram'")
                .withMessageContaining("load/finish");
        assertThat(store.sizes().searchIndexBytes()).isNull();
        PostLoader.Finished finished = store.loader().finish();
        assertThat(finished.buildSeconds()).isPositive();
        assertThat(finished.settleSeconds()).isPositive();
        store.inspector().assertReady();
        assertThat(store.sizes().searchIndexBytes()).isPositive();
    }

    @Test
    void theStatisticsAreThoseOfWhatWasLoaded() {
        store.load(
                IntStream.range(0, 500).mapToObj(number -> post("영화 " + number)).toList());
        List<Long> rows = store.inTransaction(jdbc ->
                jdbc.queryForList("SELECT reltuples::bigint FROM pg_class WHERE oid = 'posts'::regclass", Long.class));
        assertThat(rows).containsExactly(500L);
    }

    private static Post post(String content) {
        return new Post(UUID.randomUUID(), content, MOMENT);
    }
}
