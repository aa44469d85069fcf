package io.writepath.store.jpa;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.writepath.post.Post;
import io.writepath.post.PostBatchWriter;
import io.writepath.post.PostConflictException;
import io.writepath.post.PostReader;
import io.writepath.post.StoreInspector;
import io.writepath.post.StoreUnavailableException;
import io.writepath.testsupport.BackingServices;
import io.writepath.testsupport.Metrics;
import io.writepath.testsupport.PostgresService;
import io.writepath.testsupport.TcpProxy;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;

/**
 * A lock holds the first insert up until all other posts wait behind it, so that they share the next one in a known
 * order.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class BatchedWriterIntegrationTests {

    private static final Duration PATIENCE = Duration.ofSeconds(20);
    private static final Instant MOMENT = Instant.parse("2026-01-02T03:04:05.678Z");

    /** Each insert succeeds; the commit does not. */
    private static final String FAIL_COMMITS = """
            CREATE FUNCTION no_space() RETURNS trigger LANGUAGE plpgsql AS
            $$ BEGIN RAISE 'no space left' USING ERRCODE = 'disk_full'; END $$;
            CREATE CONSTRAINT TRIGGER at_commit AFTER INSERT ON posts DEFERRABLE INITIALLY DEFERRED
            FOR EACH ROW EXECUTE FUNCTION no_space()
            """;

    private final PostgresService postgres = BackingServices.postgres().inSchema("batched");
    private final TcpProxy proxy = TcpProxy.to(postgres.host(), postgres.port());
    private final ConfigurableApplicationContext context = start(postgres.through(proxy));
    private final PostReader reader = context.getBean(PostReader.class);
    private final StoreInspector inspector = context.getBean(StoreInspector.class);
    private final ExecutorService clients = Executors.newVirtualThreadPerTaskExecutor();
    private final BatchedPostWriter writer = writer(PATIENCE);

    private static ConfigurableApplicationContext start(PostgresService postgres) {
        return new SpringApplicationBuilder(RunningStore.Application.class)
                .web(WebApplicationType.NONE)
                .run(
                        "--spring.datasource.url=" + postgres.jdbcUrl(),
                        "--spring.datasource.username=" + postgres.username(),
                        "--spring.datasource.password=" + postgres.password(),
                        "--spring.datasource.hikari.maximum-pool-size=2",
                        "--spring.datasource.hikari.data-source-properties.socketTimeout=20",
                        "--spring.datasource.hikari.data-source-properties.options=-c statement_timeout=20s");
    }

    @AfterAll
    void stop() {
        clients.close();
        context.close();
        proxy.close();
    }

    @BeforeEach
    void empty() {
        proxy.heal();
        await().atMost(PATIENCE).ignoreExceptions().until(() -> {
            inspector.reset();
            return true;
        });
    }

    @Test
    void postsThatArriveWhileAnInsertIsUnderWayShareTheNextOneAndItsCommit() throws Exception {
        double before = insertsSent();
        List<Post> posts =
                IntStream.range(0, 50).mapToObj(i -> post("post " + i)).toList();
        List<Future<Post>> answers = behindALock(writer, posts, () -> {});
        for (int i = 0; i < posts.size(); i++) {
            assertThat(answers.get(i).get()).isEqualTo(posts.get(i));
        }
        assertThat(number("SELECT count(*) FROM posts")).isEqualTo(50);
        assertThat(number("SELECT count(DISTINCT xmin::text) FROM posts"))
                .as("commits")
                .isEqualTo(2);
        assertThat(insertsSent() - before).isEqualTo(2);
    }

    @Test
    void ofOneIdTheFirstPostOfABatchStaysAndEachCallerHearsOfItsOwn() throws Exception {
        Post first = post("a");
        Post repeat = new Post(first.id(), "a", MOMENT.plusSeconds(5));
        Post other = new Post(first.id(), "b", MOMENT);
        List<Future<Post>> answers = behindALock(writer, List.of(post("ahead"), first, repeat, other), () -> {});
        assertThat(answers.get(1).get()).isEqualTo(first);
        assertThat(answers.get(2).get()).isEqualTo(first);
        assertThatThrownBy(() -> answers.get(3).get()).hasCauseInstanceOf(PostConflictException.class);
        assertThat(reader.find(first.id())).hasValue(first);
        assertThat(inspector.count()).isEqualTo(2);
    }

    @Test
    void aPostThatWasThereBeforeIsAnsweredWithTheFirstMomentOrRefused() {
        Post first = writer.write(post("a"));
        assertThat(writer.write(new Post(first.id(), "a", MOMENT.plusSeconds(5))))
                .isEqualTo(first);
        assertThatThrownBy(() -> writer.write(new Post(first.id(), "b", MOMENT)))
                .isInstanceOf(PostConflictException.class);
    }

    @Test
    void aPostThatPostgresRefusesFailsAloneInItsBatch() throws Exception {
        List<Post> posts = new ArrayList<>(
                IntStream.range(0, 20).mapToObj(i -> post("post " + i)).toList());
        posts.set(7, post("x".repeat(1_001)));
        posts.set(13, post("with a\0NUL"));
        List<Future<Post>> answers = behindALock(writer, posts, () -> {});
        for (int i = 0; i < posts.size(); i++) {
            Future<Post> answer = answers.get(i);
            if (i == 7 || i == 13) {
                assertThatThrownBy(answer::get).hasCauseInstanceOf(IllegalStateException.class);
            } else {
                assertThat(answer.get()).isEqualTo(posts.get(i));
            }
        }
        assertThat(inspector.count()).isEqualTo(18);
    }

    @Test
    void aCommitThatFailsFailsForEachPost() throws Exception {
        List<Post> posts =
                IntStream.range(0, 5).mapToObj(i -> post("post " + i)).toList();
        execute(FAIL_COMMITS);
        try {
            for (Future<Post> answer : behindALock(writer, posts, () -> {})) {
                assertThatThrownBy(answer::get)
                        .hasCauseInstanceOf(StoreUnavailableException.class)
                        .hasMessageContaining("it is out of resources");
            }
        } finally {
            execute("DROP FUNCTION no_space CASCADE");
        }
        assertThat(inspector.count()).isZero();
    }

    @Test
    void aDatabaseThatIsGoneIsUnavailableForEachPostAndStoresNone() throws Exception {
        List<Post> posts =
                IntStream.range(0, 5).mapToObj(i -> post("post " + i)).toList();
        for (Future<Post> answer : behindALock(writer, posts, proxy::cut)) {
            assertThatThrownBy(answer::get)
                    .hasCauseInstanceOf(StoreUnavailableException.class)
                    .hasMessageContaining("PostgreSQL cannot serve");
        }
        proxy.heal();
        await().atMost(PATIENCE).ignoreExceptions().until(() -> {
            writer.write(post("after"));
            return true;
        });
        assertThat(posts).allSatisfy(post -> assertThat(reader.find(post.id())).isEmpty());
    }

    @Test
    void aPostWhoseCallerGaveUpWhileItWaitedIsNotWritten() throws Exception {
        BatchedPostWriter impatient = writer(Duration.ofMillis(300));
        Post underWay = post("under way");
        Post queued = post("queued");
        List<Future<Post>> answers = behindALock(impatient, List.of(underWay, queued), () -> await().atMost(PATIENCE)
                .until(() -> has(impatient, "store_timeouts", 2)));
        for (Future<Post> answer : answers) {
            assertThatThrownBy(answer::get)
                    .hasCauseInstanceOf(StoreUnavailableException.class)
                    .hasMessageContaining("did not answer in 300 ms");
        }
        await().atMost(PATIENCE)
                .until(() -> has(impatient, "inserts_in_flight", 0) && has(impatient, "insert_queued", 0));
        assertThat(reader.find(underWay.id())).hasValue(underWay);
        assertThat(reader.find(queued.id())).isEmpty();
    }

    /** With one insert at a time. */
    private BatchedPostWriter writer(Duration wait) {
        return new BatchedPostWriter(
                context.getBean(PostBatchWriter.class), reader, Thread::startVirtualThread, 1, wait);
    }

    /** Answers to come: the first post is alone in its insert; the others wait behind it while something is done. */
    private List<Future<Post>> behindALock(BatchedPostWriter writer, List<Post> posts, Runnable meanwhile)
            throws SQLException {
        List<Future<Post>> answers = new ArrayList<>();
        try (Connection lock = connect();
                Statement statement = lock.createStatement()) {
            lock.setAutoCommit(false);
            statement.execute("LOCK TABLE posts IN EXCLUSIVE MODE");
            for (Post post : posts) {
                int waiting = answers.size();
                answers.add(clients.submit(() -> writer.write(post)));
                await().pollInterval(Duration.ofMillis(2))
                        .atMost(PATIENCE)
                        .until(() -> has(writer, "inserts_in_flight", 1) && has(writer, "insert_queued", waiting));
            }
            meanwhile.run();
            lock.rollback();
        }
        return answers;
    }

    private static boolean has(BatchedPostWriter writer, String metric, double value) {
        return Metrics.of(writer).entrySet().contains(Map.entry(metric, value));
    }

    private double insertsSent() {
        return Metrics.of(writer).getOrDefault("inserts_sent", Double.NaN);
    }

    private void execute(String statements) throws SQLException {
        try (Connection connection = connect();
                Statement statement = connection.createStatement()) {
            statement.execute(statements);
        }
    }

    private long number(String query) throws SQLException {
        try (Connection connection = connect();
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(query)) {
            assertThat(row.next()).isTrue();
            return row.getLong(1);
        }
    }

    private Connection connect() throws SQLException {
        return DriverManager.getConnection(postgres.jdbcUrl(), postgres.username(), postgres.password());
    }

    private static Post post(String content) {
        return new Post(UUID.randomUUID(), content, MOMENT);
    }
}
