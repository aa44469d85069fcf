package io.writepath.rabbitmq.producer;

import io.writepath.post.PostWriter;
import io.writepath.post.QueueInspector;
import io.writepath.queue.rabbitmq.QueueReadBack;
import io.writepath.rabbitmq.producer.tutorial.PostSender;
import org.springframework.amqp.rabbit.connection.CachingConnectionFactory;
import org.springframework.amqp.rabbit.core.RabbitTemplate;
import org.springframework.amqp.support.converter.JacksonJsonMessageConverter;
import org.springframework.amqp.support.converter.MessageConverter;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** The publisher as tutorials have it; only the inspector is ours. */
@Configuration(proxyBeanMethods = false)
@ConditionalOnProperty(name = "writepath.style", havingValue = "tutorial")
class TutorialConfiguration {

    @Bean
    MessageConverter messageConverter() {
        return new JacksonJsonMessageConverter();
    }

    @Bean
    PostWriter postWriter(RabbitTemplate template) {
        return new PostSender(template);
    }

    @Bean
    QueueInspector queueInspector(
            CachingConnectionFactory connections, RabbitTemplate template, QueueReadBack readBack) {
        return new TutorialQueueInspector(connections, template, readBack);
    }
}
