package io.writepath.elasticsearchwriter;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;

/** Takes posts over HTTP and writes them into the index before it answers. */
@SpringBootApplication
public class ElasticsearchWriterApplication {

    public static void main(String[] args) {
        SpringApplication.run(ElasticsearchWriterApplication.class, args);
    }
}
