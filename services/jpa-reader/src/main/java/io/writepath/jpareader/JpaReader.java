package io.writepath.jpareader;

import io.writepath.inspector.PostInspectionAutoConfiguration;
import io.writepath.store.jpa.JpaInspectionAutoConfiguration;
import io.writepath.store.jpa.JpaStoreAutoConfiguration;
import io.writepath.web.PostsAutoConfiguration;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.boot.context.properties.ConfigurationPropertiesScan;

/**
 * Serves reads from PostgreSQL through JPA, and no posts; error model, admission and metrics are those of the writers.
 */
@SpringBootApplication(
        exclude = {
            PostsAutoConfiguration.class,
            PostInspectionAutoConfiguration.class,
            JpaStoreAutoConfiguration.class,
            JpaInspectionAutoConfiguration.class
        })
@ConfigurationPropertiesScan
public class JpaReader {

    public static void main(String[] arguments) {
        SpringApplication.run(JpaReader.class, arguments);
    }
}
