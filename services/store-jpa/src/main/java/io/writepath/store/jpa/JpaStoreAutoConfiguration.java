package io.writepath.store.jpa;

import com.zaxxer.hikari.HikariDataSource;
import io.writepath.post.PostWriter;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceProperties;
import org.springframework.boot.persistence.autoconfigure.EntityScan;
import org.springframework.context.annotation.Bean;
import org.springframework.data.jpa.repository.config.EnableJpaRepositories;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * Stores posts in PostgreSQL where {@code writepath.store=jpa}, unless as tutorials have it. An application with its
 * own writer keeps it.
 */
@AutoConfiguration(before = DataSourceAutoConfiguration.class)
@ConditionalOnProperty(name = "writepath.store", havingValue = "jpa")
@ConditionalOnProperty(name = "writepath.style", havingValue = "own", matchIfMissing = true)
@EnableConfigurationProperties(PostgresSettings.class)
@EntityScan(basePackageClasses = PostEntity.class)
@EnableJpaRepositories(basePackageClasses = PostRepository.class, considerNestedRepositories = false)
public class JpaStoreAutoConfiguration {

    /**
     * Waits are bounded so that one for the pool, one for the insert and one for the commit end within the
     * application's deadline of 5 s. Each can be overridden as {@code spring.datasource.hikari.*}.
     */
    @Bean
    @ConfigurationProperties("spring.datasource.hikari")
    HikariDataSource dataSource(DataSourceProperties properties) {
        HikariDataSource pool = properties
                .initializeDataSourceBuilder()
                .type(HikariDataSource.class)
                .build();
        pool.setPoolName("posts");
        pool.setAutoCommit(false); // Hibernate then takes a connection only when it has a statement to send
        pool.setConnectionTimeout(1_000);
        pool.setValidationTimeout(500); // of a connection that idled: part of the wait, not on top of it
        pool.addDataSourceProperty("socketTimeout", "2"); // seconds; a frozen server must not pin a connection
        // Ends first, or the database goes on with what nobody waits for, beside what the pool's next connection asks.
        pool.addDataSourceProperty("options", "-c statement_timeout=1800ms");
        pool.addDataSourceProperty("connectTimeout", "2");
        pool.addDataSourceProperty("tcpKeepAlive", "true");
        pool.addDataSourceProperty("ApplicationName", "writepath");
        pool.addDataSourceProperty("logServerErrorDetail", "false"); // it quotes the row: a post's text, in our log
        return pool;
    }

    @Bean
    Schema schema(HikariDataSource pool, PostgresSettings declared) {
        return new Schema(pool, declared.searchIndex());
    }

    @Bean
    Availability postgresAvailability() {
        return new Availability();
    }

    @Bean
    @ConditionalOnMissingBean(PostWriter.class)
    JpaPostWriter postWriter(PostRepository repository, Availability postgres) {
        return new JpaPostWriter(repository, postgres);
    }

    @Bean
    JpaPostReader postReader(
            PostRepository repository,
            JdbcTemplate jdbc,
            PlatformTransactionManager transactionManager,
            PostgresSettings declared,
            Availability postgres) {
        TransactionTemplate reading = new TransactionTemplate(transactionManager);
        reading.setReadOnly(true);
        return new JpaPostReader(repository, new PostSearch(jdbc, reading, declared.searchIndex()), postgres);
    }

    @Bean
    BatchInsert postBatchWriter(
            JdbcTemplate jdbc, PlatformTransactionManager transactionManager, Availability postgres) {
        return new BatchInsert(jdbc, new TransactionTemplate(transactionManager), postgres);
    }
}
