package io.writepath.tutorial.producer;

import io.writepath.post.PostWriter;
import io.writepath.post.QueueInspector;
import io.writepath.queue.rabbitmq.QueueConfiguration;
import io.writepath.queue.rabbitmq.QueueReadBack;
import io.writepath.store.jpa.JpaStoreAutoConfiguration;
import org.springframework.amqp.rabbit.connection.CachingConnectionFactory;
import org.springframework.amqp.rabbit.core.RabbitTemplate;
import org.springframework.amqp.support.converter.JacksonJsonMessageConverter;
import org.springframework.amqp.support.converter.MessageConverter;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;

/** Takes posts over HTTP and publishes them under Spring Boot's own defaults; only the inspection is ours. */
@SpringBootApplication(exclude = JpaStoreAutoConfiguration.class, proxyBeanMethods = false)
@Import(QueueConfiguration.class)
public class TutorialProducer {

    public static void main(String[] arguments) {
        SpringApplication.run(TutorialProducer.class, arguments);
    }

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
        return new SenderInspector(connections, template, readBack);
    }
}
