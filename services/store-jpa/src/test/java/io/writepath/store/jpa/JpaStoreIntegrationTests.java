package io.writepath.store.jpa;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariDataSource;
import io.writepath.post.Durability;
import io.writepath.post.Post;
import io.writepath.post.PostBatchWriter;
import io.writepath.post.PostBatchWriter.Outcome;
import io.writepath.post.PostConflictException;
import io.writepath.post.PostReader;
import io.writepath.post.PostWriter;
import io.writepath.post.StoreInspector;
import io.writepath.post.StoreUnavailableException;
import io.writepath.post.StoredPost;
import io.writepath.testsupport.BackingServices;
import io.writepath.testsupport.PostgresService;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.logging.LoggingSystem;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

@ExtendWith(OutputCaptureExtension.class)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class JpaStoreIntegrationTests {

    private static final Duration DEADLINE = Duration.ofSeconds(5);
    private static final Instant MOMENT = Instant.parse("2026-01-02T03:04:05.678Z");

    private final ConfigurableApplicationContext context = start();
    private final PostWriter writer = context.getBean(PostWriter.class);
    private final PostReader reader = context.getBean(PostReader.class);
    private final PostBatchWriter batches = context.getBean(PostBatchWriter.class);
    private final StoreInspector inspector = context.getBean(StoreInspector.class);

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Application {}

    private static ConfigurableApplicationContext start(String... settings) {
        PostgresService postgres = BackingServices.postgres();
        return new SpringApplicationBuilder(Application.class)
                .web(WebApplicationType.NONE)
                .properties(
                        "spring.datasource.url=" + postgres.jdbcUrl(),
                        "spring.datasource.username=" + postgres.username(),
                        "spring.datasource.password=" + postgres.password(),
                        "spring.datasource.hikari.maximum-pool-size=4",
                        "spring.jpa.properties.hibernate.session_factory.statement_inspector="
                                + SentStatements.class.getName())
                .run(settings);
    }

    @AfterAll
    void stop() {
        context.close();
    }

    @BeforeEach
    void empty() {
        inspector.reset();
        SentStatements.clear();
    }

    @Test
    void writesAPostWithExactlyOneStatement() {
        writer.write(post("a"));
        assertThat(SentStatements.sent()).singleElement().asString().startsWith("insert into posts");
    }

    @Test
    void waitsForPoolInsertAndCommitEndWithinTheDeadline() {
        HikariDataSource pool = context.getBean(HikariDataSource.class);
        Duration server =
                Duration.ofSeconds(Long.parseLong(pool.getDataSourceProperties().getProperty("socketTimeout")));
        assertThat(Duration.ofMillis(pool.getConnectionTimeout()).plus(server).plus(server))
                .isLessThanOrEqualTo(DEADLINE);
    }

    @Test
    void aPropertyOverridesADefaultOfThePoolAndLeavesTheOthers() {
        try (var other = start(
                "--spring.datasource.hikari.connection-timeout=700",
                "--spring.datasource.hikari.data-source-properties.socketTimeout=1")) {
            HikariDataSource pool = other.getBean(HikariDataSource.class);
            assertThat(pool.getConnectionTimeout()).isEqualTo(700);
            assertThat(pool.getPoolName()).isEqualTo("posts");
            assertThat(pool.getDataSourceProperties())
                    .containsEntry("socketTimeout", "1")
                    .containsEntry("options", "-c statement_timeout=1800ms");
        }
    }

    @Test
    void findsThePostAsItWasWritten() {
        Post post = writer.write(post("좋은 영화 😀"));
        assertThat(reader.find(post.id())).hasValue(post);
    }

    @Test
    void answersARepeatWithTheFirstMoment() {
        Post first = writer.write(post("a"));
        Post repeat = new Post(first.id(), "a", MOMENT.plusSeconds(5));
        assertThat(writer.write(repeat)).isEqualTo(first);
        assertThat(inspector.count()).isOne();
    }

    @Test
    void keepsTheFirstContentOfAnId() {
        Post first = writer.write(post("first"));
        assertThatExceptionOfType(PostConflictException.class)
                .isThrownBy(() -> writer.write(new Post(first.id(), "other", MOMENT)));
        assertThat(reader.find(first.id())).hasValue(first);
    }

    @Test
    void aSearchForIdsFindsThoseThatAreCommittedAndNoOther() {
        Post first = writer.write(post("a"));
        Post second = writer.write(post("b"));
        writer.write(post("not asked for"));
        assertThat(inspector.visible(List.of(first.id(), UUID.randomUUID(), second.id())))
                .containsExactlyInAnyOrder(first.id(), second.id());
    }

    @Test
    void storesOneRowWhenManyWriteTheSameIdAtOnce() throws Exception {
        Post post = post("a");
        try (ExecutorService clients = Executors.newVirtualThreadPerTaskExecutor()) {
            List<Future<Post>> answers = new ArrayList<>();
            for (int client = 0; client < 16; client++) {
                answers.add(clients.submit(() -> writer.write(post)));
            }
            for (Future<Post> answer : answers) {
                assertThat(answer.get()).isEqualTo(post);
            }
        }
        assertThat(inspector.count()).isOne();
    }

    @Test
    void tellsNewFromKnownFromConflictingInOneBatch() {
        Post known = writer.write(post("known"));
        Post taken = writer.write(post("taken"));
        Post twice = post("twice");
        assertThat(batches.write(List.of(
                        post("new"),
                        known,
                        new Post(taken.id(), "other", MOMENT),
                        twice,
                        twice,
                        new Post(twice.id(), "third", MOMENT))))
                .containsExactly(
                        Outcome.STORED,
                        Outcome.ALREADY_STORED,
                        Outcome.CONFLICTING,
                        Outcome.STORED,
                        Outcome.ALREADY_STORED,
                        Outcome.CONFLICTING);
        assertThat(inspector.count()).isEqualTo(4);
        assertThat(reader.find(twice.id())).hasValue(twice);
    }

    @Test
    void rejectsTheBadPostsOfABatchAloneAndStoresTheirNeighboursAndLogsNoText(CapturedOutput output) {
        List<Post> posts = new ArrayList<>(
                IntStream.range(0, 50).mapToObj(i -> post("post " + i)).toList());
        posts.set(17, post("with a\0NUL"));
        posts.set(33, post("x".repeat(1_001)));
        for (int bad : new int[] {17, 33}) {
            assertThatThrownBy(() -> writer.write(posts.get(bad))).isNotNull();
        }
        List<Outcome> outcomes = batches.write(posts);
        assertThat(IntStream.range(0, 50).filter(i -> outcomes.get(i) == Outcome.REJECTED))
                .containsExactly(17, 33);
        assertThat(outcomes).filteredOn(outcome -> outcome == Outcome.STORED).hasSize(48);
        assertThat(inspector.count()).isEqualTo(48);
        assertThat(output).contains("refuses post " + posts.get(33).id()).doesNotContain("xxx", "with a");
    }

    @Test
    void aBatchWaitsForATableThatIsMissingAndRejectsNoPost() {
        List<Post> posts = List.of(post("good"));
        commit("ALTER TABLE posts RENAME TO hidden");
        try {
            assertThatExceptionOfType(StoreUnavailableException.class).isThrownBy(() -> batches.write(posts));
        } finally {
            commit("ALTER TABLE hidden RENAME TO posts");
        }
        assertThat(batches.write(posts)).containsExactly(Outcome.STORED);
    }

    @Test
    void aBatchWaitsForARightThatIsRevokedAndRejectsNoPost() {
        commit("CREATE ROLE limited");
        commit("GRANT SELECT, INSERT ON posts TO limited");
        try (var application = start("--spring.datasource.hikari.data-source-properties.options=-c role=limited")) {
            PostBatchWriter limited = application.getBean(PostBatchWriter.class);
            List<Post> posts = List.of(post("good"));
            commit("REVOKE INSERT ON posts FROM limited");
            assertThatExceptionOfType(StoreUnavailableException.class).isThrownBy(() -> limited.write(posts));
            commit("GRANT INSERT ON posts TO limited");
            assertThat(limited.write(posts)).containsExactly(Outcome.STORED);
        } finally {
            commit("DROP OWNED BY limited");
            commit("DROP ROLE limited");
        }
    }

    @Test
    void writesOverlappingBatchesAtOnceWithoutADeadlock() throws Exception {
        List<Post> posts =
                IntStream.range(0, 500).mapToObj(i -> post("post " + i)).toList();
        try (ExecutorService consumers = Executors.newVirtualThreadPerTaskExecutor()) {
            Future<List<Outcome>> forwards = consumers.submit(() -> batches.write(posts));
            Future<List<Outcome>> backwards = consumers.submit(() -> batches.write(posts.reversed()));
            var outcomes = new ArrayList<>(forwards.get());
            outcomes.addAll(backwards.get());
            assertThat(outcomes)
                    .filteredOn(outcome -> outcome == Outcome.STORED)
                    .hasSize(500);
            assertThat(outcomes)
                    .filteredOn(outcome -> outcome == Outcome.ALREADY_STORED)
                    .hasSize(500);
        }
    }

    @Test
    void streamsEveryRowWithTheMomentOfItsCommit() {
        Instant before = Instant.now().minus(1, ChronoUnit.MINUTES);
        List<Post> posts =
                IntStream.range(0, 12_000).mapToObj(i -> post("post " + i)).toList();
        for (int start = 0; start < posts.size(); start += 500) {
            batches.write(posts.subList(start, start + 500)); // as a consumer does: one statement must end within 2 s
        }
        List<StoredPost> stored = new ArrayList<>();
        inspector.forEach(stored::add);
        assertThat(stored).extracting(StoredPost::id).hasSize(12_000).doesNotHaveDuplicates();
        assertThat(stored)
                .extracting(StoredPost::durableAt)
                .allMatch(moment -> moment != null && moment.isAfter(before));
    }

    @Test
    void readsTheDurabilityBackFromTheSessionsItWritesWith() {
        assertThat(inspector.durability().level()).isEqualTo(Durability.Level.A);
        assertThat(inspector.durability().settings())
                .containsEntry("fsync", "on")
                .containsEntry("synchronous_commit", "on")
                .containsEntry("full_page_writes", "on")
                .containsEntry("track_commit_timestamp", "on");
    }

    @Test
    void startsTwiceAtOnceOnAnEmptyDatabase() throws Exception {
        context.getBean(JdbcTemplate.class).execute((java.sql.Connection connection) -> {
            try (var statement = connection.createStatement()) {
                statement.execute("DROP TABLE posts, flyway_schema_history");
            }
            connection.commit();
            return true;
        });
        // The two share one Logback, which each would set up and, at the same moment, find half set up by the other.
        System.setProperty(LoggingSystem.SYSTEM_PROPERTY, LoggingSystem.NONE);
        try (ExecutorService instances = Executors.newFixedThreadPool(2)) {
            Future<ConfigurableApplicationContext> one = instances.submit(() -> start());
            Future<ConfigurableApplicationContext> other = instances.submit(() -> start());
            one.get().close();
            other.get().close();
        } finally {
            System.clearProperty(LoggingSystem.SYSTEM_PROPERTY);
        }
        inspector.assertReady();
    }

    private static Post post(String content) {
        return new Post(UUID.randomUUID(), content, MOMENT);
    }

    private void commit(String statement) {
        new TransactionTemplate(context.getBean(PlatformTransactionManager.class))
                .executeWithoutResult(
                        status -> context.getBean(JdbcTemplate.class).execute(statement));
    }
}
