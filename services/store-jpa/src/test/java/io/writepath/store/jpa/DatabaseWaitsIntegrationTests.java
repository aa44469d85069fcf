package io.writepath.store.jpa;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariDataSource;
import io.writepath.post.SampledFigures;
import io.writepath.post.StoreUnavailableException;
import io.writepath.testsupport.BackingServices;
import io.writepath.testsupport.PostgresService;
import io.writepath.testsupport.TcpProxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class DatabaseWaitsIntegrationTests {

    private static final Duration SETTLED = Duration.ofSeconds(20);
    private static final int POOL_SIZE = 2;

    private final PostgresService postgres = BackingServices.postgres();
    private final TcpProxy proxy = TcpProxy.to(postgres.host(), postgres.port());
    private final HikariDataSource pool = pool(postgres.through(proxy));
    private final DatabaseWaits waits = new DatabaseWaits(pool);

    @AfterEach
    void close() {
        waits.close();
        pool.close();
        proxy.close();
    }

    @Test
    void aSessionThatWaitsForALockIsCountedWithWhatItWaitsFor() throws Exception {
        try (Connection holder = pool.getConnection();
                Connection waiter = pool.getConnection();
                ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            lock(holder);
            Future<?> waits = threads.submit(() -> {
                lock(waiter);
                return true;
            });
            await().atMost(SETTLED).ignoreExceptions().untilAsserted(() -> assertThat(figures())
                    .containsEntry("database.active[]", 1.0)
                    .containsEntry("database.waiting[]", 1.0)
                    .containsEntry("database.wait[Lock.advisory]", 1.0)
                    .containsEntry("database.between.statements[]", 1.0));
            holder.rollback();
            waits.get();
            waiter.rollback();
            assertThat(reading())
                    .containsEntry("database.waiting[]", 0.0)
                    .doesNotContainKey("database.wait[Lock.advisory]");
        }
    }

    @Test
    void readsWhileThePoolIsUsedUpAndCountsNoSessionThatOnlyLooks() throws Exception {
        try (Connection one = pool.getConnection();
                Connection two = pool.getConnection();
                PostgresInspector inspector = new PostgresInspector(pool, SearchIndex.NONE)) {
            lock(one);
            assertThat(two.isValid(1)).isTrue();
            assertThat(pool.getHikariPoolMXBean().getActiveConnections()).isEqualTo(POOL_SIZE);
            inspector.versions();
            assertThat(reading()).containsEntry("database.active[]", 0.0);
        }
    }

    @Test
    void aServerThatIsGoneIsAFailureAndNoZero() {
        reading();
        proxy.cut();
        assertThatExceptionOfType(StoreUnavailableException.class).isThrownBy(waits::sample);
        proxy.heal();
        assertThat(reading()).containsKey("database.active[]");
    }

    /** The first that comes: a connection may take longer than a reading waits for it. */
    private Map<String, Double> reading() {
        return await().atMost(SETTLED).ignoreExceptions().until(this::figures, read -> !read.isEmpty());
    }

    private Map<String, Double> figures() {
        return waits.sample().stream()
                .collect(Collectors.toMap(
                        figure -> figure.name() + figure.tags().values(), SampledFigures.Figure::value));
    }

    private static void lock(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute("SELECT pg_advisory_xact_lock(4711)");
        }
    }

    private static HikariDataSource pool(PostgresService postgres) {
        HikariDataSource pool = new HikariDataSource();
        pool.setJdbcUrl(postgres.jdbcUrl());
        pool.setUsername(postgres.username());
        pool.setPassword(postgres.password());
        pool.setAutoCommit(false);
        pool.setMaximumPoolSize(POOL_SIZE);
        pool.addDataSourceProperty("ApplicationName", "writepath");
        return pool;
    }
}
