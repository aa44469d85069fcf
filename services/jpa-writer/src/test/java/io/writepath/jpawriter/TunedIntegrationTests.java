package io.writepath.jpawriter;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import io.writepath.testsupport.BackingServices;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.apache.catalina.connector.Connector;
import org.apache.tomcat.util.threads.ThreadPoolExecutor;
import org.junit.jupiter.api.Test;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.tomcat.TomcatWebServer;
import org.springframework.boot.web.server.servlet.context.ServletWebServerApplicationContext;
import org.springframework.orm.jpa.support.OpenEntityManagerInViewInterceptor;

/** What the tuned writer has in the place of Spring Boot's defaults, which the tutorial's keeps. */
class TunedIntegrationTests {

    @Test
    void differsFromSpringBootsDefaults() {
        try (var tuned = start()) {
            assertThat(tuned.getBeansOfType(OpenEntityManagerInViewInterceptor.class))
                    .isEmpty();
            assertThat(tuned.getBean(HikariDataSource.class).isAutoCommit()).isFalse();
            assertThat(connector(tuned).getProtocolHandler().getExecutor()).isNotInstanceOf(ThreadPoolExecutor.class);
            assertThat(connector(tuned).getProperty("acceptCount")).isEqualTo(1024);
        }
    }

    @Test
    void servesWithPlatformThreadsWhereTheTopologySaysSo() {
        try (var tuned = start("--VIRTUAL_THREADS=false", "--TOMCAT_THREADS=11")) {
            assertThat(connector(tuned).getProtocolHandler().getExecutor())
                    .isInstanceOfSatisfying(
                            ThreadPoolExecutor.class,
                            threads -> assertThat(threads.getMaximumPoolSize()).isEqualTo(11));
        }
    }

    private static Connector connector(ServletWebServerApplicationContext context) {
        return ((TomcatWebServer) Objects.requireNonNull(context.getWebServer()))
                .getTomcat()
                .getConnector();
    }

    private static ServletWebServerApplicationContext start(String... settings) {
        var postgres = BackingServices.postgres();
        List<String> arguments = new ArrayList<>(List.of(
                "--server.address=127.0.0.1",
                "--server.port=0",
                "--management.server.port=0",
                "--spring.datasource.url=" + postgres.jdbcUrl(),
                "--spring.datasource.username=" + postgres.username(),
                "--spring.datasource.password=" + postgres.password()));
        arguments.addAll(List.of(settings));
        return (ServletWebServerApplicationContext)
                SpringApplication.run(JpaWriter.class, arguments.toArray(String[]::new));
    }
}
