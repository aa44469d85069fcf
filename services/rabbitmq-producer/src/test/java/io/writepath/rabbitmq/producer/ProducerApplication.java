package io.writepath.rabbitmq.producer;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.annotation.Import;

/** The library as the applications start it, with PostgreSQL for a store. */
@SpringBootApplication
@Import(ProducerConfiguration.class)
class ProducerApplication {

    public static void main(String[] args) {
        SpringApplication.run(ProducerApplication.class, args);
    }
}
