package io.writepath.queue.rabbitmq;

import org.springframework.amqp.rabbit.connection.ConnectionFactory;
import org.springframework.amqp.rabbit.core.RabbitAdmin;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;

/** Broker and topology, declared by whoever publishes or consumes. */
@Configuration(proxyBeanMethods = false)
@Import(QueueConfiguration.class)
public class DeclaredWhenTold {

    /**
     * Declares when told to, not whenever a connection opens, as Boot's own would: a refusal then reaches the one who
     * asked, at the start of the application, instead of failing whatever connects first.
     */
    @Bean
    RabbitAdmin rabbitAdmin(ConnectionFactory connections) {
        RabbitAdmin admin = new RabbitAdmin(connections);
        admin.setAutoStartup(false);
        return admin;
    }
}
