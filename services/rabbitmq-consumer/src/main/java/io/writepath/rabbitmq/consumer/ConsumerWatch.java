package io.writepath.rabbitmq.consumer;

import java.time.Duration;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Sees to it that the consumer consumes, where nothing tells it that it does not any more. The listener container ends
 * for good when the broker refuses to declare, as it does where the queue is gone and somebody else is faster to make
 * another one. And of a quorum queue that is deleted and at once made again, RabbitMQ (3.10.8) moves the consumers to
 * the new one without a word and then takes what that one delivers for repetitions: to the client they are silent for
 * ever, to the queue they hold its messages. So a consumer that was given nothing for a while consumes anew; one that
 * has nothing to do loses nothing by it.
 */
final class ConsumerWatch implements AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger(ConsumerWatch.class);
    private static final Duration INTERVAL = Duration.ofSeconds(1);
    private static final Duration SILENT = Duration.ofSeconds(5);

    private final QueueConsumer consumer;
    private final Deliveries deliveries;
    private final ScheduledExecutorService clock = Executors.newSingleThreadScheduledExecutor(
            Thread.ofPlatform().daemon().name("consumer-watch").factory());
    private final ScheduledFuture<?> looking;

    ConsumerWatch(QueueConsumer consumer, Deliveries deliveries) {
        this.consumer = consumer;
        this.deliveries = deliveries;
        long pause = INTERVAL.toMillis();
        looking = clock.scheduleWithFixedDelay(this::look, pause, pause, TimeUnit.MILLISECONDS);
    }

    private void look() {
        try {
            if (consumer.ended()) {
                log.warn("the listener container had ended; consuming again");
                consumer.consumeAnew();
            } else if (consumer.connected() && deliveries.silentFor(SILENT)) {
                log.debug("nothing was delivered for {} s; consuming anew", SILENT.toSeconds());
                consumer.consumeAnew();
            }
        } catch (RuntimeException failure) { // whatever it is: a clock that throws never looks again
            log.warn("cannot consume yet: {}", failure.toString());
        }
    }

    @Override
    public void close() {
        looking.cancel(true);
        clock.shutdownNow();
    }
}
