package io.writepath.queue.rabbitmq;

import java.time.Duration;
import org.springframework.amqp.core.Declarables;
import org.springframework.amqp.rabbit.connection.CachingConnectionFactory;
import org.springframework.amqp.rabbit.connection.ConnectionNameStrategy;
import org.springframework.amqp.rabbit.connection.SimplePropertyValueConnectionNameStrategy;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.boot.amqp.autoconfigure.CachingConnectionFactoryConfigurer;
import org.springframework.boot.amqp.autoconfigure.ConnectionFactoryCustomizer;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** Broker and topology as both applications of a queue path see them; they import it. */
@Configuration(proxyBeanMethods = false)
@EnableConfigurationProperties({BrokerSettings.class, QueueSettings.class})
public class QueueConfiguration {

    private static final Duration HANDSHAKE_TIMEOUT = Duration.ofSeconds(5);

    /** The name the broker's own tools show; Spring appends ".publisher" to that of the publishing connection. */
    @Bean
    ConnectionNameStrategy connectionNameStrategy() {
        return new SimplePropertyValueConnectionNameStrategy("spring.application.name");
    }

    /** Boot has a setting for the socket's connecting and for calls, none for the broker's greeting in between. */
    @Bean
    ConnectionFactoryCustomizer handshakeTimeout() {
        return factory -> factory.setHandshakeTimeout((int) HANDSHAKE_TIMEOUT.toMillis());
    }

    /** Spring would wait half a minute for a frozen broker to say goodbye. */
    @Bean
    SmartInitializingSingleton closeTimeout(CachingConnectionFactory connections) {
        return () -> connections.setCloseTimeout((int) BrokerConnections.CLOSE_TIMEOUT.toMillis());
    }

    @Bean
    QueueTopology queueTopology(QueueSettings settings) {
        return new QueueTopology(settings);
    }

    @Bean
    Declarables queueDeclarables(QueueTopology topology) {
        return topology.declarables();
    }

    @Bean
    PostsPerMessage postsPerMessage() {
        return new PostsPerMessage();
    }

    /** On a factory of its own: giving up a question that is not answered must not cost the consumer its connection. */
    @Bean
    QueueReadBack queueReadBack(
            CachingConnectionFactory connections,
            CachingConnectionFactoryConfigurer configurer,
            ConnectionNameStrategy names,
            QueueTopology topology,
            PostsPerMessage perMessage) {
        CachingConnectionFactory inspecting = new CachingConnectionFactory(connections.getRabbitConnectionFactory());
        configurer.configure(inspecting);
        inspecting.setConnectionNameStrategy(factory -> names.obtainNewConnectionName(factory) + ".inspector");
        inspecting.setCloseTimeout((int) BrokerConnections.CLOSE_TIMEOUT.toMillis());
        return new QueueReadBack(inspecting, topology, perMessage);
    }
}
