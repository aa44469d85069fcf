package io.writepath.jpareader;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariDataSource;
import io.writepath.testsupport.PostgresService;
import java.net.http.HttpResponse;
import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.apache.tomcat.util.threads.ThreadPoolExecutor;
import org.junit.jupiter.api.Test;
import org.springframework.boot.tomcat.TomcatWebServer;
import org.springframework.boot.web.server.servlet.context.ServletWebServerApplicationContext;

/** Pool and threads are Spring Boot's own, under its own names. */
class PoolIntegrationTests {

    private static final Duration TIMEOUT = Duration.ofMillis(400);

    private final PostgresService postgres = RunningReader.fresh("pools");

    @Test
    void withoutAFreeConnectionARequestIsA503AfterTheTimeoutAndIsCounted() throws Exception {
        try (RunningReader reader = new RunningReader(
                        postgres,
                        "--spring.datasource.hikari.maximum-pool-size=1",
                        "--spring.datasource.hikari.connection-timeout=" + TIMEOUT.toMillis());
                Connection other = RunningReader.connect(postgres);
                Statement lock = other.createStatement();
                ExecutorService clients = Executors.newSingleThreadExecutor()) {
            assertThat(reader.get("/api/points/1").statusCode()).isEqualTo(200);
            other.setAutoCommit(false);
            lock.execute("LOCK TABLE point IN ACCESS EXCLUSIVE MODE");
            Future<HttpResponse<String>> waiting = clients.submit(() -> reader.get("/api/points/1"));
            await().until(() -> reader.metric("hikaricp_connections_active") == 1);
            long start = System.nanoTime();
            HttpResponse<String> refused = reader.get("/api/feed");
            Duration waited = Duration.ofNanos(System.nanoTime() - start);
            other.rollback();

            assertThat(refused.statusCode()).as(refused.body()).isEqualTo(503);
            assertThat(refused.headers().firstValue("X-Refused-By")).hasValue("store");
            assertThat(refused.headers().firstValue("Retry-After")).hasValue("1");
            assertThat(refused.body()).contains("no connection from the pool in time");
            assertThat(waited).isBetween(TIMEOUT, TIMEOUT.multipliedBy(10));
            assertThat(waiting.get().statusCode()).isEqualTo(200);
            assertThat(reader.metric("writepath_pool_timeouts_total")).isOne();
            assertThat(reader.metric("hikaricp_connections_timeout_total")).isOne();
            assertThat(reader.metric("hikaricp_connections_acquire_seconds_count"))
                    .isPositive();
            assertThat(reader.metric("hikaricp_connections_usage_seconds_sum")).isPositive();
        }
    }

    @Test
    void aPoolHasAtMostAsManyIdleConnectionsAsItMayHave() {
        try (RunningReader reader = new RunningReader(
                postgres,
                "--spring.datasource.hikari.maximum-pool-size=3",
                "--spring.datasource.hikari.minimum-idle=10000")) {
            assertThat(reader.context().getBean(HikariDataSource.class).getMinimumIdle())
                    .isEqualTo(3);
        }
    }

    /** Nothing of the application needs a connection beyond it, so that a small limit of the database is the pool's. */
    @Test
    void servesOverThePoolAlone() {
        try (RunningReader reader = new RunningReader(
                postgres,
                "--spring.datasource.hikari.maximum-pool-size=2",
                "--spring.datasource.hikari.data-source-properties.ApplicationName=alone")) {
            reader.get("/api/feed");
            reader.actuator("health/readiness");
            reader.actuator("info");
            reader.inspect("GET", "data");
            String others = "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'"
                    + " AND pid <> pg_backend_pid() AND application_name <> 'alone'";
            await().until(() -> RunningReader.number(postgres, others) == 0);
        }
    }

    @Test
    void servesWithAsManyPlatformThreadsAsAreAskedForElseWithVirtualOnes() {
        try (RunningReader reader = new RunningReader(
                        postgres, "--spring.threads.virtual.enabled=false", "--server.tomcat.threads.max=11");
                RunningReader virtual = new RunningReader(postgres)) {
            assertThat(threads(reader)).isInstanceOfSatisfying(ThreadPoolExecutor.class, threads -> assertThat(
                            threads.getMaximumPoolSize())
                    .isEqualTo(11));
            assertThat(threads(virtual)).isNotInstanceOf(ThreadPoolExecutor.class);
        }
    }

    private static Object threads(RunningReader reader) {
        var context = (ServletWebServerApplicationContext) reader.context();
        var server = (TomcatWebServer) Objects.requireNonNull(context.getWebServer());
        return Objects.requireNonNull(
                server.getTomcat().getConnector().getProtocolHandler().getExecutor());
    }
}
