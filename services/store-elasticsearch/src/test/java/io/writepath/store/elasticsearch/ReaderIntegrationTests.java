package io.writepath.store.elasticsearch;

import static org.assertj.core.api.Assertions.assertThat;

import io.writepath.post.Post;
import io.writepath.post.PostPage;
import io.writepath.testsupport.BackingServices;
import java.time.Instant;
import java.util.UUID;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ReaderIntegrationTests {

    private static RunningStore store;

    @BeforeAll
    static void writePosts() {
        store = RunningStore.startEmpty(BackingServices.elasticsearch(), "writepath.elasticsearch.shards=2");
        for (int i = 0; i < 30; i++) {
            write("영화 number" + i, i);
        }
        write("이 영화는 정말, 재미 있다", 100);
        write("plain: \"quoted\" * AND OR", 101);
        store.inspector().count();
    }

    @AfterAll
    static void close() {
        store.close();
    }

    @Test
    void aSearchReturnsTheNewestFirstAndCountsAllExactly() {
        PostPage page = store.reader().search("영화", 0, 20);

        assertThat(page.total()).isEqualTo(30);
        assertThat(page.posts()).hasSize(20).isSortedAccordingTo((a, b) -> b.createdAt()
                .compareTo(a.createdAt()));
        assertThat(page.posts().getFirst().content()).isEqualTo("영화 number29");
    }

    @Test
    void severalWordsAreFoundTogetherAndInOrder() {
        assertThat(store.reader().search("정말 재미", 0, 20).total()).isEqualTo(1);
        assertThat(store.reader().search("재미 정말", 0, 20).total()).isZero();
    }

    /** Korean words keep their particles: what PostgreSQL's LIKE finds inside a word is not found here. */
    @Test
    void partOfAWordIsNotFound() {
        assertThat(store.reader().search("영화는", 0, 20).total()).isEqualTo(1);
        assertThat(store.reader().search("재", 0, 20).total()).isZero();
    }

    @ParameterizedTest
    @ValueSource(strings = {"content:*", "*", "number* OR 영화", "\"", "영화~2", "{\"match_all\":{}}", "!!!"})
    void aKeywordIsDataAndNeverAQuery(String keyword) {
        assertThat(store.reader().search(keyword, 0, 20).total()).isZero();
    }

    @Test
    void anUnknownIdIsFoundNowhere() {
        assertThat(store.reader().find(UUID.randomUUID())).isEmpty();
    }

    private static void write(String content, int second) {
        store.writer().write(new Post(UUID.randomUUID(), content, Instant.ofEpochSecond(1_700_000_000L + second)));
    }
}
