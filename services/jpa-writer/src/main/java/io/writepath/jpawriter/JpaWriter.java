package io.writepath.jpawriter;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;

/** Writes straight to PostgreSQL through JPA; the HTTP contract and the store are auto-configured. */
@SpringBootApplication
public class JpaWriter {

    public static void main(String[] arguments) {
        SpringApplication.run(JpaWriter.class, arguments);
    }
}
