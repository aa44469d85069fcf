package io.writepath.store.elasticsearch;

import static io.writepath.store.elasticsearch.RunningStore.post;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.writepath.post.Post;
import io.writepath.post.PostConflictException;
import io.writepath.post.StoredPost;
import io.writepath.testsupport.BackingServices;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What an answer means, the same for bulks and for single requests. */
class WriterIntegrationTests {

    private static final String BULK = "writepath.elasticsearch.write-mode=bulk";
    private static final String SINGLE = "writepath.elasticsearch.write-mode=single";

    @ParameterizedTest
    @ValueSource(strings = {BULK, SINGLE})
    void aRepeatedPostIsOneDocumentAndKeepsItsFirstCreatedAt(String mode) {
        try (RunningStore store = empty(mode)) {
            Post first = post("재미있는 영화");
            Post again = new Post(first.id(), first.content(), first.createdAt().plusSeconds(60));

            assertThat(store.writer().write(first)).isEqualTo(first);
            assertThat(store.writer().write(again)).isEqualTo(first);
            assertThat(store.inspector().count()).isEqualTo(1);
            assertThat(store.reader().find(first.id())).contains(first);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {BULK, SINGLE})
    void otherContentUnderATakenIdIsAConflictAndTheFirstStays(String mode) {
        try (RunningStore store = empty(mode)) {
            Post first = store.writer().write(post("first"));

            assertThatThrownBy(() -> store.writer().write(post(first.id(), "second")))
                    .isInstanceOf(PostConflictException.class);
            assertThat(store.reader().find(first.id())).contains(first);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {BULK, SINGLE})
    void concurrentWritersAreEachAnsweredByTheirOwnItem(String mode) throws Exception {
        try (RunningStore store = empty(mode, "writepath.elasticsearch.shards=2")) {
            List<Post> taken =
                    IntStream.range(0, 100).mapToObj(i -> post("taken " + i)).toList();
            taken.forEach(store.writer()::write);
            List<Post> fresh =
                    IntStream.range(0, 400).mapToObj(i -> post("fresh " + i)).toList();
            List<Post> all = new ArrayList<>(fresh);
            taken.forEach(post -> all.add(post(post.id(), "other than " + post.content())));
            Collections.shuffle(all);

            List<Future<Post>> answers = concurrently(all.stream().map(post -> write(store, post)));

            for (int i = 0; i < all.size(); i++) {
                Post asked = all.get(i);
                Future<Post> answer = answers.get(i);
                if (asked.content().startsWith("fresh")) {
                    assertThat(answer.resultNow()).isEqualTo(asked);
                } else {
                    assertThat(answer.exceptionNow()).isInstanceOf(PostConflictException.class);
                }
            }
            assertThat(store.stored().stream().map(StoredPost::content))
                    .containsExactlyInAnyOrderElementsOf(Stream.concat(taken.stream(), fresh.stream())
                            .map(Post::content)
                            .toList());
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {BULK, SINGLE})
    void manyWritersOfOnePostAllSucceedAndAgreeOnOneDocument(String mode) throws Exception {
        try (RunningStore store = empty(mode)) {
            UUID id = UUID.randomUUID();
            List<Post> repeats = IntStream.range(0, 50)
                    .mapToObj(i -> new Post(id, "one post", Instant.ofEpochMilli(1_700_000_000_000L + i)))
                    .toList();

            List<Future<Post>> answers = concurrently(repeats.stream().map(post -> write(store, post)));

            assertThat(answers.stream().map(Future::resultNow).distinct()).hasSize(1);
            assertThat(store.inspector().count()).isEqualTo(1);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {BULK, SINGLE})
    void oneRefusedDocumentDoesNotSpoilItsNeighbours(String mode) throws Exception {
        try (RunningStore store = empty(mode)) {
            store.replaceIndexByOneForNumbers();
            List<Post> all = IntStream.range(0, 200)
                    .mapToObj(i -> post(i % 50 == 0 ? "no number" : Integer.toString(i)))
                    .toList();

            List<Future<Post>> answers = concurrently(all.stream().map(post -> write(store, post)));

            for (int i = 0; i < all.size(); i++) {
                if (i % 50 == 0) {
                    assertThat(answers.get(i).exceptionNow()).isInstanceOf(IllegalStateException.class);
                } else {
                    assertThat(answers.get(i).resultNow()).isEqualTo(all.get(i));
                }
            }
            assertThat(store.inspector().count()).isEqualTo(196);
        }
    }

    private static RunningStore empty(String... settings) {
        return RunningStore.startEmpty(BackingServices.elasticsearch(), settings);
    }

    private static Callable<Post> write(RunningStore store, Post post) {
        return () -> store.writeUntilAnswered(post);
    }

    private static List<Future<Post>> concurrently(Stream<Callable<Post>> writes) throws InterruptedException {
        try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            return threads.invokeAll(writes.toList());
        }
    }
}
