package io.writepath.jpareader;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.writepath.post.LoadedData;
import io.writepath.post.VersionSource;
import io.writepath.store.jpa.PostgresAvailability;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.sql.SQLException;
import java.time.Clock;
import java.util.Map;
import java.util.Objects;
import javax.sql.DataSource;
import org.hibernate.cfg.JdbcSettings;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.hibernate.autoconfigure.HibernatePropertiesCustomizer;
import org.springframework.boot.sql.init.dependency.DependsOnDatabaseInitialization;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.web.servlet.HandlerInterceptor;
import org.springframework.web.servlet.ModelAndView;
import org.springframework.web.servlet.config.annotation.InterceptorRegistry;
import org.springframework.web.servlet.config.annotation.WebMvcConfigurer;

@Configuration(proxyBeanMethods = false)
class ReaderConfiguration {

    @Bean
    PostgresAvailability postgresAvailability() {
        return new PostgresAvailability();
    }

    @Bean
    HibernatePropertiesCustomizer countedStatements(SqlCounters counters) {
        return properties -> properties.put(JdbcSettings.STATEMENT_INSPECTOR, counters);
    }

    /** Before the first request: an application that answers has all its data. */
    @Bean
    @DependsOnDatabaseInitialization
    LoadedData loadedData(DataSource pool, ReaderSettings sizes) throws SQLException {
        return new DataLoader(pool, new DataSet(sizes)).load();
    }

    /** Of the start: to ask later takes a connection, and the pool may have all that the database grants. */
    @Bean
    VersionSource postgresVersion(JdbcTemplate jdbc) {
        String version = String.valueOf(jdbc.queryForObject("SHOW server_version", String.class));
        Map<String, String> versions = Map.of("postgresql", version.split(" ", 2)[0]);
        return () -> versions;
    }

    /** The key is the database's, so that each instance takes the tokens of every other. */
    @Bean
    Tokens tokens(JdbcTemplate jdbc, ReaderSettings settings, Clock clock) {
        byte[] key = jdbc.queryForObject("SELECT key FROM token_key", byte[].class);
        return new Tokens(Objects.requireNonNull(key), settings.tokenLifetime(), clock);
    }

    /** What was served, so that statements and rows can be said per request; a refusal or failure is not. */
    @Bean
    WebMvcConfigurer servedRequests(MeterRegistry registry) {
        Counter served = Counter.builder("writepath.read.requests").register(registry);
        HandlerInterceptor counting = new HandlerInterceptor() {
            @Override
            public void postHandle(
                    HttpServletRequest request,
                    HttpServletResponse response,
                    Object handler,
                    @Nullable ModelAndView view) {
                served.increment();
            }
        };
        return new WebMvcConfigurer() {
            @Override
            public void addInterceptors(InterceptorRegistry interceptors) {
                interceptors.addInterceptor(counting).addPathPatterns("/api/**");
            }
        };
    }
}
