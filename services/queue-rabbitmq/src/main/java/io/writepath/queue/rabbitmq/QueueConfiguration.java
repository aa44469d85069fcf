package io.writepath.queue.rabbitmq;

import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** Broker and topology as both applications of a queue path see them; they import it. */
@Configuration(proxyBeanMethods = false)
@EnableConfigurationProperties({BrokerSettings.class, QueueSettings.class})
public class QueueConfiguration {

    @Bean
    BrokerConnections brokerConnections(BrokerSettings settings) {
        return new BrokerConnections(settings);
    }

    @Bean
    QueueTopology queueTopology(QueueSettings settings) {
        return new QueueTopology(settings);
    }
}
