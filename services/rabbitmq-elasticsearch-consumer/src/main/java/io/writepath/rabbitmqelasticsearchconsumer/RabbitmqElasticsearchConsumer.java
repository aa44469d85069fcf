package io.writepath.rabbitmqelasticsearchconsumer;

import io.writepath.rabbitmq.consumer.ConsumerConfiguration;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.annotation.Import;

/** Moves posts from the queue into Elasticsearch. Serves no posts. */
@SpringBootApplication
@Import(ConsumerConfiguration.class)
public class RabbitmqElasticsearchConsumer {

    public static void main(String[] arguments) {
        SpringApplication.run(RabbitmqElasticsearchConsumer.class, arguments);
    }
}
