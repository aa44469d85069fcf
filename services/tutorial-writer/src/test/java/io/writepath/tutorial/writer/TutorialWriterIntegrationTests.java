package io.writepath.tutorial.writer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariDataSource;
import io.writepath.post.Post;
import io.writepath.post.PostCursor;
import io.writepath.post.PostPage;
import io.writepath.post.PostReader;
import io.writepath.post.PostWriter;
import io.writepath.post.StoreInspector;
import io.writepath.testsupport.BackingServices;
import io.writepath.testsupport.PostgresService;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.Executor;
import org.apache.catalina.connector.Connector;
import org.apache.tomcat.util.threads.ThreadPoolExecutor;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.tomcat.TomcatWebServer;
import org.springframework.boot.web.server.servlet.context.ServletWebServerApplicationContext;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.orm.jpa.support.OpenEntityManagerInViewInterceptor;

/**
 * The running application has Spring Boot's defaults for pool, threads and sessions, and a key made by the database.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class TutorialWriterIntegrationTests {

    private static final int BOOTS_POOL = 10;
    private static final int BOOTS_THREADS = 200;
    private static final int BOOTS_BACKLOG = 100;

    private final ServletWebServerApplicationContext tutorial = start();

    @AfterAll
    void stop() {
        tutorial.close();
    }

    @BeforeEach
    void empty() {
        tutorial.getBean(StoreInspector.class).reset();
    }

    @Test
    void keepsTheSessionOpenForTheWholeRequest() {
        assertThat(tutorial.getBeansOfType(OpenEntityManagerInViewInterceptor.class))
                .hasSize(1);
    }

    @Test
    void hasThePoolThatBootMakes() {
        var pool = tutorial.getBean(HikariDataSource.class);
        assertThat(pool.getMaximumPoolSize()).isEqualTo(BOOTS_POOL);
        assertThat(pool.isAutoCommit()).isTrue();
        assertThat(pool.getConnectionTimeout()).isEqualTo(30_000);
        assertThat(pool.getDataSourceProperties()).isEmpty();
    }

    @Test
    void servesWithPlatformThreads() {
        assertThat(executor(tutorial))
                .isInstanceOfSatisfying(ThreadPoolExecutor.class, threads -> assertThat(threads.getMaximumPoolSize())
                        .isEqualTo(BOOTS_THREADS));
        assertThat(connector(tutorial).getProperty("acceptCount")).isEqualTo(BOOTS_BACKLOG);
    }

    @Test
    void theDatabaseMakesTheKeys() {
        write(UUID.randomUUID(), "a");
        write(UUID.randomUUID(), "b");
        var jdbc = tutorial.getBean(JdbcTemplate.class);
        assertThat(jdbc.queryForList("SELECT content FROM posts ORDER BY number", String.class))
                .containsExactly("a", "b");
        assertThat(jdbc.queryForList("""
                SELECT column_name FROM information_schema.columns
                WHERE table_schema = 'tutorial' AND table_name = 'posts' AND is_identity = 'YES'
                """, String.class)).containsExactly("number");
    }

    @Test
    void aRepetitionIsASecondRowAndTheFirstIsFound() {
        UUID id = UUID.randomUUID();
        write(id, "first");
        write(id, "second");
        assertThat(tutorial.getBean(StoreInspector.class).count()).isEqualTo(2);
        assertThat(tutorial.getBean(PostReader.class).find(id))
                .hasValueSatisfying(found -> assertThat(found.content()).isEqualTo("first"));
    }

    @Test
    void givesPagesAndWhatFollowsAPlaceInTheContractsOrder() {
        for (int number = 0; number < 7; number++) {
            write(UUID.randomUUID(), "100% 영화 " + number);
        }
        write(UUID.randomUUID(), "100 영화");
        PostReader reader = tutorial.getBean(PostReader.class);
        PostPage all = reader.search("0% 영화", 0, 20);
        assertThat(all.total()).isEqualTo(7);
        assertThat(all.next()).isNull();
        assertThat(all.posts()).isSortedAccordingTo(Comparator.comparing(PostCursor::of));

        PostPage second = reader.search("0% 영화", 1, 3);
        assertThat(second.posts()).isEqualTo(all.posts().subList(3, 6));
        PostPage third = reader.searchAfter("0% 영화", Objects.requireNonNull(second.next()), 3);
        assertThat(third.posts()).isEqualTo(all.posts().subList(6, 7));
        assertThat(third.next()).isNull();
    }

    @Test
    void aSearchIndexIsRefusedRatherThanIgnored() {
        assertThatThrownBy(() -> start("--writepath.postgres.search-index=bigram"))
                .rootCause()
                .hasMessageContaining("POSTGRES_SEARCH_INDEX must be none");
    }

    private void write(UUID id, String content) {
        tutorial.getBean(PostWriter.class).write(new Post(id, content, Instant.now()));
    }

    private static Connector connector(ServletWebServerApplicationContext context) {
        var server = (TomcatWebServer) Objects.requireNonNull(context.getWebServer());
        return server.getTomcat().getConnector();
    }

    private static Executor executor(ServletWebServerApplicationContext context) {
        return connector(context).getProtocolHandler().getExecutor();
    }

    private static ServletWebServerApplicationContext start(String... settings) {
        PostgresService used = BackingServices.postgres().inSchema("tutorial");
        List<String> arguments = new ArrayList<>(List.of(
                "--server.address=127.0.0.1",
                "--server.port=0",
                "--management.server.port=0",
                "--spring.datasource.url=" + used.jdbcUrl(),
                "--spring.datasource.username=" + used.username(),
                "--spring.datasource.password=" + used.password()));
        arguments.addAll(List.of(settings));
        return (ServletWebServerApplicationContext)
                SpringApplication.run(TutorialWriter.class, arguments.toArray(String[]::new));
    }
}
