package io.writepath.tutorial.writer;

import io.writepath.store.jpa.JpaStoreAutoConfiguration;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;

/** Writes straight to PostgreSQL under Spring Boot's own defaults; only the inspection of the store is ours. */
@SpringBootApplication(exclude = JpaStoreAutoConfiguration.class)
public class TutorialWriter {

    public static void main(String[] arguments) {
        SpringApplication.run(TutorialWriter.class, arguments);
    }
}
