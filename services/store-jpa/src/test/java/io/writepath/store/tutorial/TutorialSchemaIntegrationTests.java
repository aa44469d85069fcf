package io.writepath.store.tutorial;

import io.writepath.testsupport.BackingServices;
import io.writepath.testsupport.PostgresService;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DriverManagerDataSource;

class TutorialSchemaIntegrationTests {

    private static final int INSTANCES = 8;
    private static final int ROUNDS = 20; // without the lock nearly every round fails

    private final PostgresService postgres = BackingServices.postgres().inSchema("tutorial_schema");
    private final DataSource commitsEachStatement =
            new DriverManagerDataSource(postgres.jdbcUrl(), postgres.username(), postgres.password());
    private final JdbcTemplate jdbc = new JdbcTemplate(commitsEachStatement);

    @Test
    void instancesThatStartTogetherTakeTurns() throws Exception {
        try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            for (int round = 0; round < ROUNDS; round++) {
                jdbc.execute("DROP TABLE IF EXISTS posts");
                CyclicBarrier together = new CyclicBarrier(INSTANCES);
                var starts = IntStream.range(0, INSTANCES)
                        .mapToObj(instance -> threads.submit(() -> {
                            together.await();
                            return new TutorialStoreAutoConfiguration()
                                    .schema(commitsEachStatement)
                                    .initializeDatabase();
                        }))
                        .toList();
                for (Future<Boolean> start : starts) {
                    start.get();
                }
            }
        }
    }
}
