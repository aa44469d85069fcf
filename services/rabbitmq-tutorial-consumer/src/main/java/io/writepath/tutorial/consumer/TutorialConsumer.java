package io.writepath.tutorial.consumer;

import io.writepath.post.PostWriter;
import io.writepath.post.QueueInspector;
import io.writepath.queue.rabbitmq.QueueConfiguration;
import io.writepath.queue.rabbitmq.QueueReadBack;
import io.writepath.rabbitmq.consumer.CountedDeliveries;
import io.writepath.rabbitmq.consumer.Deliveries;
import io.writepath.store.jpa.JpaStoreAutoConfiguration;
import org.springframework.amqp.rabbit.listener.RabbitListenerEndpointRegistry;
import org.springframework.amqp.support.converter.JacksonJsonMessageConverter;
import org.springframework.amqp.support.converter.MessageConverter;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;

/** Consumes under Spring Boot's own defaults; only the inspection, and what counts deliveries for it, is ours. */
@SpringBootApplication(exclude = JpaStoreAutoConfiguration.class, proxyBeanMethods = false)
@Import({QueueConfiguration.class, CountedDeliveries.class})
public class TutorialConsumer {

    public static void main(String[] arguments) {
        SpringApplication.run(TutorialConsumer.class, arguments);
    }

    @Bean
    MessageConverter messageConverter() {
        return new JacksonJsonMessageConverter();
    }

    @Bean
    PostListener postListener(PostWriter posts) {
        return new PostListener(posts);
    }

    @Bean
    QueueInspector queueInspector(
            RabbitListenerEndpointRegistry listeners, Deliveries deliveries, QueueReadBack readBack) {
        return new ListenerInspector(listeners, deliveries, readBack);
    }
}
