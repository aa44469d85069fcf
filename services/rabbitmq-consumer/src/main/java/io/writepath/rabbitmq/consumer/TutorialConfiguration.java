package io.writepath.rabbitmq.consumer;

import io.writepath.post.PostWriter;
import io.writepath.post.QueueInspector;
import io.writepath.queue.rabbitmq.QueueReadBack;
import io.writepath.rabbitmq.consumer.tutorial.PostListener;
import org.springframework.amqp.rabbit.listener.RabbitListenerEndpointRegistry;
import org.springframework.amqp.support.converter.JacksonJsonMessageConverter;
import org.springframework.amqp.support.converter.MessageConverter;
import org.springframework.boot.amqp.autoconfigure.ConnectionFactoryCustomizer;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** The consumer as tutorials have it; only the inspector, and what counts deliveries for it, is ours. */
@Configuration(proxyBeanMethods = false)
@ConditionalOnProperty(name = "writepath.style", havingValue = "tutorial")
class TutorialConfiguration {

    @Bean
    MessageConverter messageConverter() {
        return new JacksonJsonMessageConverter();
    }

    @Bean
    PostListener postListener(PostWriter posts) {
        return new PostListener(posts);
    }

    @Bean
    Deliveries deliveries() {
        return new Deliveries();
    }

    @Bean
    ConnectionFactoryCustomizer countDeliveries(Deliveries deliveries) {
        return factory -> factory.setMetricsCollector(deliveries);
    }

    @Bean
    QueueInspector queueInspector(
            RabbitListenerEndpointRegistry listeners, Deliveries deliveries, QueueReadBack readBack) {
        return new TutorialQueueInspector(listeners, deliveries, readBack);
    }
}
