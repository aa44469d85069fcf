package io.writepath.rabbitmq.producer;

import io.writepath.post.PostWriter;
import io.writepath.post.QueueInspector;
import io.writepath.queue.rabbitmq.BrokerSettings;
import io.writepath.queue.rabbitmq.ConfirmPublisher;
import io.writepath.queue.rabbitmq.DeclaredWhenTold;
import io.writepath.queue.rabbitmq.PostsPerMessage;
import io.writepath.queue.rabbitmq.PublishMode;
import io.writepath.queue.rabbitmq.PublisherRoute;
import io.writepath.queue.rabbitmq.QueueNames;
import io.writepath.queue.rabbitmq.QueueReadBack;
import io.writepath.queue.rabbitmq.QueueTopology;
import org.springframework.amqp.rabbit.connection.ConnectionFactory;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;

/** The publisher with confirms, and its inspector. */
@Configuration(proxyBeanMethods = false)
@Import(DeclaredWhenTold.class)
@EnableConfigurationProperties(PublisherSettings.class)
public class ProducerConfiguration {

    private static final String PUBLISHER = "writepath-producer";

    @Bean
    ConfirmPublisher publisher(
            ConnectionFactory connections,
            BrokerSettings broker,
            QueueTopology topology,
            PublisherSettings settings,
            PostsPerMessage perMessage) {
        PublishMode mode = new PublishMode(settings.confirms(), settings.mandatory(), topology.durable());
        PublisherRoute route = new PublisherRoute(PUBLISHER, QueueNames.EXCHANGE, settings.grouping(), mode);
        return new ConfirmPublisher(connections, broker, topology, route, perMessage);
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
