package io.writepath.jpawriter;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.writepath.testsupport.BackingServices;
import io.writepath.testsupport.PostgresService;
import io.writepath.testsupport.TcpProxy;
import java.net.http.HttpResponse;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/** With posts that share inserts, the contract of a write stays, and the metrics tell how many share one. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class BatchedIntegrationTests {

    private static final Duration RECOVERY_MAX = Duration.ofSeconds(30);
    private static final Duration DEADLINE = Duration.ofSeconds(5);
    private static final int CLIENTS = 8;

    private final PostgresService postgres = BackingServices.postgres();
    private final TcpProxy proxy = TcpProxy.to(postgres.host(), postgres.port());
    private final RunningWriter writer = new RunningWriter(
            postgres.through(proxy),
            "--writepath.postgres.write-mode=batched",
            "--writepath.postgres.inserts-in-flight=1");
    private final ExecutorService clients = Executors.newVirtualThreadPerTaskExecutor();

    @AfterAll
    void stop() {
        clients.close();
        writer.close();
        proxy.close();
    }

    @BeforeEach
    void recover() {
        proxy.heal();
        await().atMost(RECOVERY_MAX)
                .until(() -> writer.post("{\"content\":\"a\"}").statusCode() == 201);
    }

    @Test
    void aRepetitionIsTheFirstPostAndOtherContentAConflict() {
        UUID id = UUID.randomUUID();
        HttpResponse<String> first = writer.post("{\"id\":\"%s\",\"content\":\"first\"}".formatted(id));
        assertThat(first.statusCode()).isEqualTo(201);
        HttpResponse<String> repetition = writer.post("{\"id\":\"%s\",\"content\":\"first\"}".formatted(id));
        assertThat(repetition.statusCode()).isEqualTo(201);
        assertThat(repetition.body()).isEqualTo(first.body());
        assertThat(writer.post("{\"id\":\"%s\",\"content\":\"other\"}".formatted(id))
                        .statusCode())
                .isEqualTo(409);
    }

    @Test
    void requestsThatArriveTogetherShareAnInsert() throws Exception {
        double before = writer.metric("writepath_inserts_sent_total");
        List<Future<HttpResponse<String>>> answers;
        try (Connection other =
                        DriverManager.getConnection(postgres.jdbcUrl(), postgres.username(), postgres.password());
                Statement statement = other.createStatement()) {
            other.setAutoCommit(false);
            statement.execute("LOCK TABLE posts IN EXCLUSIVE MODE");
            answers = postTogether();
            await().until(() -> writer.metric("writepath_insert_queued") == CLIENTS - 1);
            assertThat(writer.metric("writepath_inserts_in_flight")).isOne();
            assertThat(writer.metric("writepath_inserts_in_flight_max")).isOne();
            other.rollback();
        }
        for (Future<HttpResponse<String>> answer : answers) {
            assertThat(answer.get().statusCode()).isEqualTo(201);
        }
        assertThat(writer.metric("writepath_inserts_sent_total") - before).isEqualTo(2);
        assertThat(writer.metric("writepath_insert_posts_mean")).isGreaterThan(1);
    }

    @Test
    void whileTheDatabaseIsGoneEachRequestIsA503WithinTheDeadline() throws Exception {
        proxy.cut();
        long start = System.nanoTime();
        for (Future<HttpResponse<String>> answer : postTogether()) {
            assertThat(answer.get().statusCode()).isEqualTo(503);
            assertThat(answer.get().headers().firstValue("Retry-After")).hasValue("1");
            assertThat(answer.get().headers().firstValue("X-Refused-By")).hasValue("store");
        }
        assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(DEADLINE);
    }

    private List<Future<HttpResponse<String>>> postTogether() {
        List<Future<HttpResponse<String>>> answers = new ArrayList<>();
        for (int client = 0; client < CLIENTS; client++) {
            answers.add(clients.submit(() -> writer.post("{\"content\":\"together\"}")));
        }
        return answers;
    }
}
