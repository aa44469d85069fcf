package io.writepath.rabbitmqjpaproducer;

import io.writepath.rabbitmq.producer.ProducerConfiguration;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.annotation.Import;

/** Takes posts over HTTP and hands them to the broker; reads and searches ask PostgreSQL. */
@SpringBootApplication
@Import(ProducerConfiguration.class)
public class RabbitmqJpaProducer {

    public static void main(String[] arguments) {
        SpringApplication.run(RabbitmqJpaProducer.class, arguments);
    }
}
