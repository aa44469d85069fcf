package io.writepath.rabbitmq.producer;

import io.writepath.queue.rabbitmq.QueueConfiguration;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.annotation.Import;

/** Takes posts over HTTP and hands them to the broker. */
@SpringBootApplication
@Import(QueueConfiguration.class)
public class ProducerApplication {

    public static void main(String[] args) {
        SpringApplication.run(ProducerApplication.class, args);
    }
}
