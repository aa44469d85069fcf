package io.writepath.queue.rabbitmq;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.binder.MeterBinder;
import java.io.IOException;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.ToIntFunction;
import org.springframework.amqp.rabbit.connection.ConnectionFactory;
import org.springframework.context.SmartLifecycle;

/**
 * Publishes persistent, mandatory messages (but in a naive twin) and waits for the broker's confirm, on a connection
 * for publishing only: a broker in alarm blocks publishing connections, and must not stop consumers with them. A lost
 * connection is replaced in the background; meanwhile every publishing fails at once.
 */
public final class ConfirmPublisher implements MeterBinder, SmartLifecycle, AutoCloseable {

    private final PublisherCounters counters;
    private final PublisherSupervisor supervisor;
    private final PublishMode mode;
    private volatile boolean running;

    /**
     * Publishes on the factory's publishing connection, and is alone on it.
     *
     * @param perMessage learns of each message
     */
    public ConfirmPublisher(
            ConnectionFactory connections,
            BrokerSettings settings,
            QueueTopology topology,
            PublisherRoute route,
            PostsPerMessage perMessage) {
        this.mode = route.mode();
        this.counters = new PublisherCounters(perMessage);
        ConnectionFactory publishing = Objects.requireNonNull(connections.getPublisherConnectionFactory());
        this.supervisor =
                new PublisherSupervisor(route.name(), settings.startTimeout(), () -> open(publishing, topology, route));
    }

    private PublisherSession open(ConnectionFactory publishing, QueueTopology topology, PublisherRoute route)
            throws IOException {
        PublisherSession session = PublisherSession.open(publishing, topology, route, counters);
        counters.connections.increment();
        return session;
    }

    /**
     * Connects and declares the topology.
     *
     * @throws IllegalStateException the broker did not answer within the start time-out, or holds other settings
     */
    @Override
    public void start() {
        supervisor.start();
        running = true;
    }

    /**
     * Sends the message, or the post in one with others, and waits for the broker's word, at most {@code wait}; never
     * throws for the broker's sake.
     */
    public PublishOutcome publish(OutgoingMessage message, Duration wait) {
        PublisherSession session = supervisor.session();
        if (session == null) {
            counters.refused.increment();
            return PublishOutcome.DISCONNECTED;
        }
        Publication publication = new Publication(message);
        session.publish(publication);
        PublishOutcome outcome = await(publication.outcome(), wait);
        if (outcome == PublishOutcome.BLOCKED || outcome == PublishOutcome.BUSY) {
            counters.refused.increment();
        }
        return outcome == PublishOutcome.UNCONFIRMED && session.blocked() ? PublishOutcome.BLOCKED : outcome;
    }

    private PublishOutcome await(CompletableFuture<PublishOutcome> outcome, Duration wait) {
        try {
            return outcome.get(wait.toMillis(), TimeUnit.MILLISECONDS);
        } catch (TimeoutException e) {
            counters.timedOut.increment();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (ExecutionException e) {
            throw new IllegalStateException("outcomes never fail", e);
        }
        // Completed, so that a post still in the outbox is not sent after its sender was told; a confirm that came in
        // this very moment still counts.
        outcome.complete(PublishOutcome.UNCONFIRMED);
        return outcome.join();
    }

    /** Whether a message could go out now: connected and not blocked. */
    public boolean open() {
        PublisherSession session = supervisor.session();
        return session != null && !session.blocked();
    }

    /** How messages are published, as the open channels are set; empty without a connection. */
    public Map<String, String> settings() {
        return supervisor.session() == null ? Map.of() : mode.settings();
    }

    @Override
    public void bindTo(MeterRegistry registry) {
        counters.bindTo(registry);
        show(registry, "connected", session -> 1);
        show(registry, "blocked", session -> session.blocked() ? 1 : 0);
        show(registry, "unconfirmed", PublisherSession::unconfirmed);
    }

    /** Zero without a connection. */
    private void show(MeterRegistry registry, String name, ToIntFunction<PublisherSession> figure) {
        Gauge.builder("writepath." + name, () -> {
                    PublisherSession session = supervisor.session();
                    return session == null ? 0 : figure.applyAsInt(session);
                })
                .register(registry);
    }

    @Override
    public void stop() {
        close();
    }

    @Override
    public boolean isRunning() {
        return running;
    }

    /** Before whatever publishes, and stopped after it; Spring's connections, at the lowest phase, outlive this. */
    @Override
    public int getPhase() {
        return Integer.MIN_VALUE + 1;
    }

    @Override
    public void close() {
        running = false;
        supervisor.close();
    }
}
