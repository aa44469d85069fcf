package io.writepath.rabbitmq.consumer;

import io.writepath.queue.rabbitmq.ConfirmPublisher;
import io.writepath.queue.rabbitmq.OutgoingMessage;
import io.writepath.queue.rabbitmq.PublishOutcome;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Parks posts in the dead-letter queue, each in a message of its own, as it came and with the reason. Published with a
 * confirm instead of rejected: a rejected message would take its good posts along, could be lost between the queues,
 * and would carry no reason.
 */
final class DeadLetters {

    private static final Logger log = LoggerFactory.getLogger(DeadLetters.class);
    private static final Duration CONFIRM_TIMEOUT = Duration.ofSeconds(2);
    private static final String UNKNOWN = "unknown";

    private final ConfirmPublisher publisher;
    private final ConsumerCounters counters;

    DeadLetters(ConfirmPublisher publisher, ConsumerCounters counters) {
        this.publisher = publisher;
        this.counters = counters;
    }

    /** Returns once the broker confirmed the parked copy; a post may be parked twice, never lost. */
    void park(Incoming incoming, Patience patience) throws Patience.AbandonedException, InterruptedException {
        OutgoingMessage message = parked(incoming);
        PublishOutcome outcome = publisher.publish(message, CONFIRM_TIMEOUT);
        while (outcome != PublishOutcome.CONFIRMED) {
            log.warn("post {} could not be parked: {}", message.id(), outcome.reason());
            patience.pause();
            outcome = publisher.publish(message, CONFIRM_TIMEOUT);
        }
        counters.parked.increment();
        log.warn("post {} is parked: {}", message.id(), incoming.objection());
    }

    private static OutgoingMessage parked(Incoming incoming) {
        String type = Objects.requireNonNullElse(incoming.delivery().type(), UNKNOWN);
        String reason = Objects.requireNonNullElse(incoming.objection(), UNKNOWN);
        Map<String, Object> headers = Map.of("x-parked-reason", reason, "x-original-type", type);
        return new OutgoingMessage(incoming.id(), incoming.body(), headers);
    }
}
