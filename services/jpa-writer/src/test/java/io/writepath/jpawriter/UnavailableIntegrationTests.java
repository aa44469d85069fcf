package io.writepath.jpawriter;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.writepath.testsupport.BackingServices;
import io.writepath.testsupport.PostgresService;
import io.writepath.testsupport.TcpProxy;
import java.net.http.HttpResponse;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/** PostgreSQL fails in many ways; the client always sees a 503 within the application's deadline, and never a 201. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class UnavailableIntegrationTests {

    private static final Duration DEADLINE = Duration.ofSeconds(5);
    private static final Duration RECOVERY_MAX = Duration.ofSeconds(30);
    private static final int POOL_SIZE = 2;

    private final PostgresService postgres = BackingServices.postgres();
    private final TcpProxy proxy = TcpProxy.to(postgres.host(), postgres.port());
    private final RunningWriter writer = new RunningWriter(postgres.through(proxy), "--writepath.in-flight-max=4");

    @AfterAll
    void stop() {
        writer.close();
        proxy.close();
    }

    @BeforeEach
    void recover() {
        proxy.heal();
        await().atMost(RECOVERY_MAX).until(() -> write().statusCode() == 201);
    }

    @Test
    void aFrozenServerIsA503WithinTheDeadline() {
        proxy.freeze();
        assertUnavailable(timed(this::write));
    }

    @Test
    void aFrozenServerFailsReadsToo() {
        proxy.freeze();
        assertUnavailable(timed(() -> writer.get("/api/posts?keyword=a")));
    }

    @Test
    void aCutConnectionIsA503WithinTheDeadline() {
        proxy.cut();
        assertUnavailable(timed(this::write));
        assertUnavailable(timed(this::write));
    }

    @Test
    void whatIsAnsweredWith503IsNotLeftRunningInTheDatabase() throws Exception {
        try (Connection other = connect()) {
            lockThePosts(other);
            Timed refused = timed(this::write);
            assertUnavailable(refused);
            try (var statement = other.createStatement();
                    var rows = statement.executeQuery("SELECT count(*) FROM pg_stat_activity"
                            + " WHERE application_name = 'writepath' AND state = 'active'")) {
                assertThat(rows.next()).isTrue();
                assertThat(rows.getLong(1)).isZero();
            }
            assertThat(refused.answer().body()).contains("it did not answer in time");
            other.rollback();
        }
    }

    @Test
    void aDatabaseThatIsGoneIsNotReportedAsAPoolWithoutAFreeConnection() throws Exception {
        double before = writer.metric("writepath_pool_timeouts_total");
        proxy.cut();
        try (ExecutorService clients = Executors.newVirtualThreadPerTaskExecutor()) {
            List<Future<Timed>> answers = new ArrayList<>();
            for (int client = 0; client < POOL_SIZE + 1; client++) {
                answers.add(clients.submit(() -> timed(this::write)));
            }
            for (Future<Timed> answer : answers) {
                assertUnavailable(answer.get());
                assertThat(answer.get().answer().body()).contains("the connection failed");
            }
        }
        assertThat(writer.metric("writepath_pool_timeouts_total")).isEqualTo(before);
    }

    @Test
    void aPoolWithoutAFreeConnectionIsA503WithinTheDeadline() throws Exception {
        try (Connection other = connect();
                ExecutorService clients = Executors.newVirtualThreadPerTaskExecutor()) {
            lockThePosts(other);
            List<Future<Timed>> answers = new ArrayList<>();
            for (int client = 0; client < POOL_SIZE + 1; client++) {
                answers.add(clients.submit(() -> timed(this::write)));
            }
            for (Future<Timed> answer : answers) {
                assertUnavailable(answer.get());
            }
            other.rollback();
        }
    }

    @Test
    void theInspectorAnswersAndTheRestIsRefusedAtOnceWhileAllThatMayBeAreInFlight() throws Exception {
        try (Connection other = connect();
                ExecutorService clients = Executors.newVirtualThreadPerTaskExecutor()) {
            lockThePosts(other);
            List<Future<Timed>> answers = new ArrayList<>();
            for (int client = 0; client < 4; client++) {
                answers.add(clients.submit(() -> timed(this::write)));
            }
            await().until(() -> writer.inspect("GET", "pending").body().contains("\"in_flight\":4"));
            Timed refused = timed(this::write);
            assertUnavailable(refused, "application");
            assertThat(refused.answer().body()).contains("serving 4 requests");
            assertThat(writer.metric("writepath_in_flight_rejected_total")).isOne();
            other.rollback();
            for (Future<Timed> answer : answers) {
                answer.get();
            }
        }
    }

    @Test
    void aReadOnlyServerIsA503AndNotReady() throws Exception {
        try (Connection admin = connect()) {
            run(admin, "ALTER DATABASE writepath SET default_transaction_read_only = on");
            try {
                run(
                        admin,
                        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE 'writepath%'");
                await().atMost(RECOVERY_MAX).until(() -> write().body().contains("read-only"));
                assertUnavailable(timed(this::write));
                await().atMost(RECOVERY_MAX)
                        .until(() -> writer.actuator("health/readiness").body().contains("read-only"));
            } finally {
                run(admin, "ALTER DATABASE writepath RESET default_transaction_read_only");
                run(
                        admin,
                        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE 'writepath%'");
            }
        }
    }

    private HttpResponse<String> write() {
        return writer.post("{\"content\":\"a\"}");
    }

    private Connection connect() throws SQLException {
        Connection connection =
                DriverManager.getConnection(postgres.jdbcUrl(), postgres.username(), postgres.password());
        connection.setAutoCommit(false);
        return connection;
    }

    private static void lockThePosts(Connection connection) throws SQLException {
        try (var statement = connection.createStatement()) {
            statement.execute("LOCK TABLE posts IN ACCESS EXCLUSIVE MODE");
        }
    }

    private static void run(Connection connection, String sql) throws SQLException {
        try (var statement = connection.createStatement()) {
            statement.execute(sql);
        }
        connection.commit();
    }

    private record Timed(HttpResponse<String> answer, Duration duration) {}

    private interface Request {
        HttpResponse<String> send();
    }

    private static Timed timed(Request request) {
        long start = System.nanoTime();
        HttpResponse<String> answer = request.send();
        return new Timed(answer, Duration.ofNanos(System.nanoTime() - start));
    }

    private static void assertUnavailable(Timed timed) {
        assertUnavailable(timed, "store");
    }

    private static void assertUnavailable(Timed timed, String refusedBy) {
        assertThat(timed.answer().statusCode()).as(timed.answer().body()).isEqualTo(503);
        assertThat(timed.answer().headers().firstValue("Retry-After")).hasValue("1");
        assertThat(timed.answer().headers().firstValue("X-Refused-By")).hasValue(refusedBy);
        assertThat(timed.answer().headers().firstValue("Content-Type")).hasValue("application/problem+json");
        assertThat(timed.answer().body()).doesNotContain("Exception");
        assertThat(timed.duration()).isLessThan(DEADLINE);
    }
}
