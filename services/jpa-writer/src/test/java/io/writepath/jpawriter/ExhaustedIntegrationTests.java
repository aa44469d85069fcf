package io.writepath.jpawriter;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.writepath.testsupport.BackingServices;
import io.writepath.testsupport.PostgresService;
import java.net.http.HttpResponse;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.Statement;
import java.time.Duration;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/** Whatever is used up of what requests need: connections, permits, and the threads that carry virtual ones. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class ExhaustedIntegrationTests {

    private static final Duration MAX = Duration.ofSeconds(1);
    private static final String[] PAGES = {
        "actuator/health/liveness",
        "actuator/health/readiness",
        "actuator/info",
        "actuator/prometheus",
        "inspector/pending",
        "inspector/visible?ids=0189aaaa-bbbb-8ccc-8ddd-eeeeeeeeeeee"
    };

    private final PostgresService postgres = BackingServices.postgres();
    private final RunningWriter writer = new RunningWriter(postgres, "--writepath.in-flight-max=4");
    private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
    private final AtomicBoolean over = new AtomicBoolean();

    @AfterAll
    void stop() {
        over.set(true);
        threads.close();
        writer.close();
    }

    @Test
    void theManagementPortAnswersWithinASecondWhileConnectionsPermitsAndCarriersAreUsedUp() throws Exception {
        for (String page : PAGES) {
            assertThat(writer.manage(page).statusCode()).as(page).isEqualTo(200);
        }
        try (Connection other =
                        DriverManager.getConnection(postgres.jdbcUrl(), postgres.username(), postgres.password());
                Statement statement = other.createStatement()) {
            other.setAutoCommit(false);
            statement.execute("LOCK TABLE posts IN EXCLUSIVE MODE"); // as a reader, the inspector may go on
            for (int client = 0; client < 4; client++) {
                threads.execute(() -> writer.post("{\"content\":\"a\"}"));
            }
            await().until(() -> writer.manage("inspector/pending").body().contains("\"in_flight\":4"));
            for (int carrier = 0; carrier < 2 * Runtime.getRuntime().availableProcessors(); carrier++) {
                threads.execute(this::spin);
            }
            for (String page : PAGES) {
                long start = System.nanoTime();
                HttpResponse<String> answer = writer.manage(page);
                assertThat(answer.statusCode()).as(page).isEqualTo(200);
                assertThat(Duration.ofNanos(System.nanoTime() - start)).as(page).isLessThan(MAX);
            }
        } finally {
            over.set(true);
        }
    }

    /** Never yields its carrier. */
    private void spin() {
        while (!over.get()) {
            Thread.onSpinWait();
        }
    }
}
