package io.writepath.jpawriter;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import io.writepath.testsupport.BackingServices;
import java.util.Objects;
import java.util.concurrent.ThreadPoolExecutor;
import org.junit.jupiter.api.Test;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.tomcat.TomcatWebServer;
import org.springframework.boot.web.server.servlet.context.ServletWebServerApplicationContext;
import org.springframework.orm.jpa.support.OpenEntityManagerInViewInterceptor;

/** What the tuned writer has in the place of Spring Boot's defaults, which the tutorial's keeps. */
class TunedIntegrationTests {

    @Test
    void differsFromSpringBootsDefaults() {
        var postgres = BackingServices.postgres();
        try (var tuned = (ServletWebServerApplicationContext) SpringApplication.run(
                JpaWriter.class,
                "--server.address=127.0.0.1",
                "--server.port=0",
                "--management.server.port=0",
                "--spring.datasource.url=" + postgres.jdbcUrl(),
                "--spring.datasource.username=" + postgres.username(),
                "--spring.datasource.password=" + postgres.password())) {
            assertThat(tuned.getBeansOfType(OpenEntityManagerInViewInterceptor.class))
                    .isEmpty();
            assertThat(tuned.getBean(HikariDataSource.class).isAutoCommit()).isFalse();
            var connector = ((TomcatWebServer) Objects.requireNonNull(tuned.getWebServer()))
                    .getTomcat()
                    .getConnector();
            assertThat(connector.getProtocolHandler().getExecutor()).isNotInstanceOf(ThreadPoolExecutor.class);
            assertThat(connector.getProperty("acceptCount")).isEqualTo(1024);
        }
    }
}
