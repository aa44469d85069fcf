package io.writepath.store.jpa;

import com.zaxxer.hikari.HikariDataSource;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.context.annotation.Bean;

/** Tells the truth about PostgreSQL and the pool to it, whoever writes there. */
@AutoConfiguration(after = {DataSourceAutoConfiguration.class, JpaStoreAutoConfiguration.class})
@EnableConfigurationProperties(PostgresSettings.class)
public class JpaInspectionAutoConfiguration {

    @Bean
    DatabaseWaits databaseWaits(HikariDataSource pool) {
        return new DatabaseWaits(pool);
    }

    @Bean
    PostgresInspector postgresInspector(HikariDataSource pool, PostgresSettings declared) {
        return new PostgresInspector(pool, declared.searchIndex());
    }

    @Bean
    PostgresSizes postgresSizes(PostgresInspector inspector, PostgresSettings declared) {
        return new PostgresSizes(inspector, declared.searchIndex());
    }

    @Bean
    PostgresLoader postgresLoader(HikariDataSource pool, PostgresSettings declared) {
        return new PostgresLoader(pool, declared.searchIndex());
    }
}
