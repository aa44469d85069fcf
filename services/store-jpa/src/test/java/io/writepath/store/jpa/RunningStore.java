package io.writepath.store.jpa;

import io.writepath.post.Post;
import io.writepath.post.PostLoader;
import io.writepath.post.PostReader;
import io.writepath.post.PostWriter;
import io.writepath.post.StoreInspector;
import io.writepath.post.StoreSizes;
import io.writepath.testsupport.BackingServices;
import io.writepath.testsupport.PostgresService;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

/** The store as an application has it, over a real PostgreSQL, with a table of its own for each search index. */
final class RunningStore implements AutoCloseable {

    private final ConfigurableApplicationContext context;

    private RunningStore(ConfigurableApplicationContext context) {
        this.context = context;
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Application {}

    static RunningStore startEmpty(SearchIndex index) {
        RunningStore store = start("searched_" + index.spelled(), index);
        store.inspector().reset();
        return store;
    }

    /** With one connection, so that what a test asks about a session is about the store's. */
    static RunningStore start(String schema, SearchIndex index) {
        PostgresService postgres = BackingServices.postgres().inSchema(schema);
        return new RunningStore(new SpringApplicationBuilder(Application.class)
                .web(WebApplicationType.NONE)
                .run(
                        "--writepath.postgres.search-index=" + index.spelled(),
                        "--spring.datasource.url=" + postgres.jdbcUrl(),
                        "--spring.datasource.username=" + postgres.username(),
                        "--spring.datasource.password=" + postgres.password(),
                        "--spring.datasource.hikari.maximum-pool-size=1"));
    }

    PostWriter writer() {
        return context.getBean(PostWriter.class);
    }

    PostReader reader() {
        return context.getBean(PostReader.class);
    }

    PostLoader loader() {
        return context.getBean(PostLoader.class);
    }

    StoreInspector inspector() {
        return context.getBean(StoreInspector.class);
    }

    StoreSizes.Sizes sizes() {
        return context.getBean(StoreSizes.class).sizes();
    }

    void load(List<Post> posts) {
        loader().begin();
        loader().load(posts);
        loader().finish();
    }

    /** In one transaction of the pool under test. */
    <T extends @Nullable Object> T inTransaction(Function<JdbcTemplate, T> work) {
        return new TransactionTemplate(context.getBean(PlatformTransactionManager.class))
                .execute(status -> work.apply(context.getBean(JdbcTemplate.class)));
    }

    @Override
    public void close() {
        context.close();
    }
}
