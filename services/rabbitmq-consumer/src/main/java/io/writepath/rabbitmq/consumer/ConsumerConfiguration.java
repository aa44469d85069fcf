package io.writepath.rabbitmq.consumer;

import io.writepath.post.PostBatchWriter;
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
@EnableConfigurationProperties(ConsumerSettings.class)
class ConsumerConfiguration {

    private static final String CONSUMER = "writepath-consumer";
    private static final String PARKING = "writepath-consumer-parking";
    private static final String INSPECTOR = "writepath-consumer-inspector";

    /** Publishes what is parked. Starting it waits for the broker and declares the topology. */
    @Bean(initMethod = "start")
    ConfirmPublisher parkingPublisher(BrokerConnections connections, QueueTopology topology) {
        return new ConfirmPublisher(
                connections, topology, new PublisherRoute(PARKING, QueueNames.DEAD_LETTER_EXCHANGE, 1));
    }

    @Bean
    ConsumerCounters consumerCounters() {
        return new ConsumerCounters();
    }

    @Bean
    BatchProcessor batchProcessor(
            PostBatchWriter writer, ConfirmPublisher parkingPublisher, ConsumerCounters counters) {
        return new BatchProcessor(
                new BatchStoring(writer, counters), new DeadLetters(parkingPublisher, counters), counters);
    }

    @Bean
    QueueConsumer queueConsumer(
            BrokerConnections connections,
            QueueTopology topology,
            ConsumerSettings settings,
            BatchProcessor processor,
            ConsumerCounters counters) {
        return new QueueConsumer(
                () -> ConsumerSession.open(connections.open(CONSUMER), topology, settings), processor, counters);
    }

    @Bean
    QueueReadBack queueReadBack(BrokerConnections connections, QueueTopology topology) {
        return new QueueReadBack(connections, topology, INSPECTOR);
    }

    @Bean
    QueueInspector queueInspector(QueueConsumer consumer, QueueReadBack readBack, ConsumerCounters counters) {
        return new ConsumerQueueInspector(consumer, readBack, counters);
    }
}
