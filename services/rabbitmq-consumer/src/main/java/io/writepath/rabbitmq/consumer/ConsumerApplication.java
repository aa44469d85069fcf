package io.writepath.rabbitmq.consumer;

import io.writepath.queue.rabbitmq.QueueConfiguration;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.annotation.Import;

/** Moves posts from the queue into the final store. Serves no posts; only the management port listens. */
@SpringBootApplication
@Import(QueueConfiguration.class)
public class ConsumerApplication {

    public static void main(String[] args) {
        SpringApplication.run(ConsumerApplication.class, args);
    }
}
