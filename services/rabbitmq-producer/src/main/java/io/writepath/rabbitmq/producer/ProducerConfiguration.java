package io.writepath.rabbitmq.producer;

import io.writepath.post.PostWriter;
import io.writepath.post.QueueInspector;
import io.writepath.post.QueueNames;
import io.writepath.queue.rabbitmq.BrokerConnections;
import io.writepath.queue.rabbitmq.ConfirmPublisher;
import io.writepath.queue.rabbitmq.PublisherRoute;
import io.writepath.queue.rabbitmq.QueueReadBack;
import io.writepath.queue.rabbitmq.QueueTopology;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

@Configuration(proxyBeanMethods = false)
@EnableConfigurationProperties(PublisherSettings.class)
class ProducerConfiguration {

    private static final String PUBLISHER = "writepath-producer";
    private static final String INSPECTOR = "writepath-producer-inspector";

    @Bean(initMethod = "start")
    ConfirmPublisher publisher(BrokerConnections connections, QueueTopology topology, PublisherSettings settings) {
        PublisherRoute route = new PublisherRoute(PUBLISHER, QueueNames.EXCHANGE, settings.channels());
        return new ConfirmPublisher(connections, topology, route);
    }

    @Bean
    QueueReadBack queueReadBack(BrokerConnections connections, QueueTopology topology) {
        return new QueueReadBack(connections, topology, INSPECTOR);
    }

    @Bean
    PostWriter postWriter(ConfirmPublisher publisher, PublisherSettings settings) {
        return new QueuePostWriter(publisher, settings.confirmTimeout());
    }

    @Bean
    QueueInspector queueInspector(ConfirmPublisher publisher, QueueReadBack readBack) {
        return new ProducerQueueInspector(publisher, readBack);
    }
}
