package io.writepath.rabbitmqjpaconsumer;

import io.writepath.rabbitmq.consumer.ConsumerConfiguration;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.annotation.Import;

/** Moves posts from the queue into PostgreSQL. Serves no posts. */
@SpringBootApplication
@Import(ConsumerConfiguration.class)
public class RabbitmqJpaConsumer {

    public static void main(String[] arguments) {
        SpringApplication.run(RabbitmqJpaConsumer.class, arguments);
    }
}
