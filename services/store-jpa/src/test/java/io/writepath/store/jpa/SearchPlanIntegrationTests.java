package io.writepath.store.jpa;

import static org.assertj.core.api.Assertions.assertThat;

import io.writepath.post.Post;
import java.time.Instant;
import java.util.List;
import java.util.Random;
import java.util.UUID;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What PostgreSQL does with each index for a keyword of two Hangul syllables, as nearly all Korean keywords are. */
class SearchPlanIntegrationTests {

    private static final int POSTS = 20_000;
    private static final Instant MOMENT = Instant.parse("2026-01-02T03:04:05.678Z");
    private static final String[] WORDS = {"배우", "연기", "화면", "음악", "장면", "주인공", "결말", "대사", "시간", "기억"};
    private static final String TWO = "감동";

    private static RunningStore trigram;
    private static RunningStore bigram;
    private static long holding;

    @BeforeAll
    static void load() {
        List<Post> posts = posts();
        holding = posts.stream().filter(post -> post.content().contains(TWO)).count();
        trigram = RunningStore.startEmpty(SearchIndex.TRIGRAM);
        bigram = RunningStore.startEmpty(SearchIndex.BIGRAM);
        for (RunningStore store : List.of(trigram, bigram)) {
            store.loader().begin();
            store.loader().load(posts.subList(0, POSTS / 2));
            store.loader().load(posts.subList(POSTS / 2, POSTS));
            store.loader().finish();
        }
    }

    @AfterAll
    static void close() {
        trigram.close();
        bigram.close();
    }

    @Test
    void aTrigramIndexIsNoUseForTwoSyllablesSoThatTheTableIsScanned() {
        assertThat(plan(trigram, SearchIndex.TRIGRAM, TWO, true))
                .contains("Seq Scan on posts")
                .doesNotContain("posts_by_trigram");
    }

    /** Two syllables have no trigram: the index, forced, hands over every post, and each text is looked at again. */
    @Test
    void aTrigramIndexThatIsForcedProposesEveryPost() {
        String plan = plan(trigram, SearchIndex.TRIGRAM, TWO, false);
        assertThat(plan).contains("Bitmap Index Scan on posts_by_trigram");
        assertThat(number("Rows Removed by Index Recheck: (\\d+)", plan)).isEqualTo(POSTS - holding);
    }

    @ParameterizedTest
    @ValueSource(strings = {"감동적", " 감동", "동했다"})
    void aTrigramIndexServesThreeCharactersWithASpaceAmongThem(String keyword) {
        String plan = plan(trigram, SearchIndex.TRIGRAM, keyword, false);
        assertThat(plan).contains("Bitmap Index Scan on posts_by_trigram");
        assertThat(number("posts_by_trigram .*rows=(\\d+)", plan)).isLessThanOrEqualTo(holding);
    }

    @Test
    void aBigramIndexServesTwoSyllablesAndProposesNoOtherPost() {
        String plan = plan(bigram, SearchIndex.BIGRAM, TWO, true);
        assertThat(plan).contains("Bitmap Index Scan on posts_by_bigram").doesNotContain("Rows Removed");
        assertThat(number("posts_by_bigram .*rows=(\\d+)", plan)).isEqualTo(holding);
    }

    /** One plan for all keywords could be right for few of them. */
    @Test
    void everySearchIsPlannedForItsKeyword() {
        for (int time = 0; time < 20; time++) {
            bigram.reader().search(TWO, 0, 10);
        }
        List<String> prepared = bigram.inTransaction(jdbc -> jdbc.queryForList(
                "SELECT statement FROM pg_prepared_statements WHERE statement LIKE '%FROM posts WHERE%'",
                String.class));
        assertThat(prepared).isEmpty();
    }

    private static String plan(RunningStore store, SearchIndex index, String keyword, boolean scans) {
        String explained = "EXPLAIN (ANALYZE, TIMING OFF, SUMMARY OFF, BUFFERS OFF) " + PostSearch.COUNT;
        return store.inTransaction(jdbc -> {
            jdbc.execute("SET LOCAL enable_seqscan = " + scans);
            return jdbc
                    .query(PostSearch.statement(explained, index.holding(keyword)), (row, number) -> row.getString(1))
                    .stream()
                    .collect(Collectors.joining("\n"));
        });
    }

    private static long number(String pattern, String plan) {
        Matcher found = Pattern.compile(pattern).matcher(plan);
        assertThat(found.find()).as(plan).isTrue();
        return Long.parseLong(found.group(1));
    }

    /** Of the length of a one-line review; every fortieth is moved, and of those every fourth is 감동적. */
    private static List<Post> posts() {
        Random random = new Random(7);
        return IntStream.range(0, POSTS)
                .mapToObj(number -> {
                    String words = random.ints(10, 0, WORDS.length)
                            .mapToObj(word -> WORDS[word])
                            .collect(Collectors.joining(" "));
                    String moved = number % 160 == 0 ? " 감동적이다" : number % 40 == 0 ? " 감동했다" : "";
                    return new Post(
                            new UUID(random.nextLong(), random.nextLong()), words + moved, MOMENT.plusMillis(number));
                })
                .toList();
    }
}
