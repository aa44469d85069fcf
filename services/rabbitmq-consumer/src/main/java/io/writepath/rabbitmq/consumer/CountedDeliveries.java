package io.writepath.rabbitmq.consumer;

import io.writepath.queue.rabbitmq.PostsPerMessage;
import org.springframework.boot.amqp.autoconfigure.ConnectionFactoryCustomizer;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** Counts what this process has in hand, however it consumes. */
@Configuration(proxyBeanMethods = false)
public class CountedDeliveries {

    @Bean
    Deliveries deliveries(PostsPerMessage perMessage) {
        return new Deliveries(perMessage);
    }

    @Bean
    ConnectionFactoryCustomizer countDeliveries(Deliveries deliveries) {
        return factory -> {
            factory.setMetricsCollector(deliveries);
            factory.setTrafficListener(deliveries);
        };
    }
}
