package io.writepath.store.jpa;

import io.writepath.post.PostBatchWriter;
import io.writepath.post.PostWriter;
import java.time.Duration;
import java.util.Properties;
import org.postgresql.Driver;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.flyway.autoconfigure.FlywayDataSource;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.JdbcConnectionDetails;
import org.springframework.boot.persistence.autoconfigure.EntityScan;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.PropertySource;
import org.springframework.data.jpa.repository.config.EnableJpaRepositories;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.SimpleDriverDataSource;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

/** Stores posts in PostgreSQL. An application with its own writer keeps it. */
@AutoConfiguration(after = DataSourceAutoConfiguration.class)
@PropertySource("classpath:io/writepath/store/jpa/defaults.properties")
@EnableConfigurationProperties(PostgresSettings.class)
@EntityScan(basePackageClasses = PostEntity.class)
@EnableJpaRepositories(basePackageClasses = PostRepository.class, considerNestedRepositories = false)
public class JpaStoreAutoConfiguration {

    /** Of a post that shares an insert: with a read of a post that is there already, below the deadline of 5 s. */
    private static final Duration WRITE_WAIT = Duration.ofSeconds(2);

    /** A connection without the pool's limits: to build an index takes longer than any request may wait. */
    @Bean(defaultCandidate = false)
    @FlywayDataSource
    SimpleDriverDataSource migrations(JdbcConnectionDetails database) {
        Properties limits = new Properties();
        limits.setProperty("connectTimeout", "2");
        limits.setProperty("socketTimeout", Long.toString(PostgresLoader.PATIENCE.toSeconds()));
        limits.setProperty("ApplicationName", "writepath-migrations");
        SimpleDriverDataSource migrations = new SimpleDriverDataSource(new Driver(), database.getJdbcUrl(), limits);
        migrations.setUsername(database.getUsername());
        migrations.setPassword(database.getPassword());
        return migrations;
    }

    @Bean
    PostgresAvailability postgresAvailability() {
        return new PostgresAvailability();
    }

    @Bean
    @ConditionalOnMissingBean(PostWriter.class)
    PostWriter postWriter(
            PostRepository repository,
            PostBatchWriter postBatchWriter,
            JpaPostReader reader,
            PostgresSettings declared,
            PostgresAvailability postgres) {
        return switch (declared.writeMode()) {
            case SINGLE -> new JpaPostWriter(repository, postgres);
            case BATCHED ->
                new BatchedPostWriter(
                        postBatchWriter, reader, Thread::startVirtualThread, declared.insertsInFlight(), WRITE_WAIT);
        };
    }

    @Bean
    JpaPostReader postReader(
            PostRepository repository,
            JdbcTemplate jdbc,
            PlatformTransactionManager transactionManager,
            PostgresSettings declared,
            PostgresAvailability postgres) {
        TransactionTemplate reading = new TransactionTemplate(transactionManager);
        reading.setReadOnly(true);
        return new JpaPostReader(repository, new PostSearch(jdbc, reading, declared.searchIndex()), postgres);
    }

    @Bean
    BatchInsert postBatchWriter(
            JdbcTemplate jdbc, PlatformTransactionManager transactionManager, PostgresAvailability postgres) {
        return new BatchInsert(jdbc, new TransactionTemplate(transactionManager), postgres);
    }
}
