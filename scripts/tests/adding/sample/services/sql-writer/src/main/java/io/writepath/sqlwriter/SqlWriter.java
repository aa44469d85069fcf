package io.writepath.sqlwriter;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;

/** The sample application: HTTP contract, inspector and store come from the shared modules. */
@SpringBootApplication
public class SqlWriter {

    public static void main(String[] arguments) {
        SpringApplication.run(SqlWriter.class, arguments);
    }
}
