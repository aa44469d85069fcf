package io.writepath.rabbitmq.consumer;

import io.writepath.post.PostBatchWriter;
import io.writepath.post.QueueInspector;
import io.writepath.queue.rabbitmq.BrokerSettings;
import io.writepath.queue.rabbitmq.ConfirmPublisher;
import io.writepath.queue.rabbitmq.DeclaredWhenTold;
import io.writepath.queue.rabbitmq.PostsPerMessage;
import io.writepath.queue.rabbitmq.PublisherRoute;
import io.writepath.queue.rabbitmq.QueueNames;
import io.writepath.queue.rabbitmq.QueueReadBack;
import io.writepath.queue.rabbitmq.QueueTopology;
import java.time.Duration;
import org.springframework.amqp.core.AcknowledgeMode;
import org.springframework.amqp.rabbit.connection.ConnectionFactory;
import org.springframework.amqp.rabbit.core.RabbitAdmin;
import org.springframework.amqp.rabbit.listener.ListenerContainerConsumerFailedEvent;
import org.springframework.amqp.rabbit.listener.ListenerContainerIdleEvent;
import org.springframework.amqp.rabbit.listener.SimpleMessageListenerContainer;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;

/** The consumer in batches, and its inspector. */
@Configuration(proxyBeanMethods = false)
@Import({DeclaredWhenTold.class, CountedDeliveries.class})
@EnableConfigurationProperties(ConsumerSettings.class)
public class ConsumerConfiguration {

    private static final String CONSUMER = "queue-consumer";
    private static final String PARKING = "writepath-consumer-parking";
    private static final Duration IDLE = Duration.ofMillis(100);
    private static final Duration RECOVERY_INTERVAL = Duration.ofSeconds(1);
    private static final Duration STOP_TIMEOUT = Duration.ofSeconds(10);

    /** Publishes what is parked. Starting it waits for the broker and declares the topology. */
    @Bean
    ConfirmPublisher parkingPublisher(ConnectionFactory connections, BrokerSettings broker, QueueTopology topology) {
        PublisherRoute route = new PublisherRoute(PARKING, QueueNames.DEAD_LETTER_EXCHANGE);
        return new ConfirmPublisher(connections, broker, topology, route, new PostsPerMessage());
    }

    @Bean
    ConsumerCounters consumerCounters() {
        return new ConsumerCounters();
    }

    @Bean
    BatchProcessor batchProcessor(
            PostBatchWriter writer,
            ConfirmPublisher parkingPublisher,
            ConsumerSettings settings,
            ConsumerCounters counters) {
        BatchStoring storing = new BatchStoring(writer, counters);
        DeadLetters deadLetters = new DeadLetters(parkingPublisher, counters);
        return new BatchProcessor(storing, deadLetters, counters, settings.batchPosts());
    }

    /** The container is no bean: the consumer alone starts and stops it, also for a reset. */
    @Bean
    QueueConsumer queueConsumer(
            ConnectionFactory connections,
            RabbitAdmin admin,
            ApplicationContext context,
            ConsumerSettings settings,
            BatchProcessor processor,
            Deliveries deliveries,
            ConsumerCounters counters) {
        SimpleMessageListenerContainer container = container(connections, settings);
        // Declares the topology again when the queue is gone.
        container.setAmqpAdmin(admin);
        container.setApplicationContext(context);
        container.setIdleEventInterval(IDLE.toMillis());
        BatchListener listener = new BatchListener(processor, deliveries, counters, container::isActive);
        container.setMessageListener(listener);
        container.setAfterReceivePostProcessors(listener::gather);
        container.setApplicationEventPublisher(event -> {
            switch (event) {
                case ListenerContainerIdleEvent idle -> counters.lagMs.set(0);
                case ListenerContainerConsumerFailedEvent failed -> listener.endConsuming(failed.getThrowable());
                default -> {}
            }
        });
        return new QueueConsumer(container, listener, deliveries);
    }

    private static SimpleMessageListenerContainer container(ConnectionFactory connections, ConsumerSettings settings) {
        SimpleMessageListenerContainer container = new SimpleMessageListenerContainer(connections);
        container.setBeanName(CONSUMER);
        container.setQueueNames(QueueNames.QUEUE);
        container.setConsumerBatchEnabled(true);
        container.setBatchSize(settings.batchMessages());
        container.setPrefetchCount(settings.prefetch());
        container.setReceiveTimeout(settings.linger().toMillis());
        container.setBatchReceiveTimeout(settings.linger().toMillis());
        container.setMessagePropertiesConverter(new OwnProperties());
        // Whoever stored a batch acknowledges it; should the container ever reject, the broker keeps the message.
        container.setAcknowledgeMode(
                switch (settings.acknowledge()) {
                    case AFTER_STORE -> AcknowledgeMode.MANUAL;
                    case ON_DELIVERY -> AcknowledgeMode.NONE;
                });
        container.setDefaultRequeueRejected(true);
        // Whatever is wrong with broker or queue is tried again, for ever: a consumer that stopped helps nobody.
        container.setMissingQueuesFatal(false);
        container.setMismatchedQueuesFatal(false);
        container.setPossibleAuthenticationFailureFatal(false);
        container.setDeclarationRetries(0);
        container.setRecoveryInterval(RECOVERY_INTERVAL.toMillis());
        container.setShutdownTimeout(STOP_TIMEOUT.toMillis());
        return container;
    }

    @Bean
    ConsumerWatch consumerWatch(QueueConsumer consumer, Deliveries deliveries) {
        return new ConsumerWatch(consumer, deliveries);
    }

    @Bean
    QueueInspector queueInspector(
            QueueConsumer consumer, QueueReadBack readBack, ConsumerCounters counters, Deliveries deliveries) {
        return new ConsumerQueueInspector(consumer, readBack, counters, deliveries);
    }
}
