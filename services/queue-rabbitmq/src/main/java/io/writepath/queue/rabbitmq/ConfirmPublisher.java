package io.writepath.queue.rabbitmq;

import io.writepath.post.Gauges;
import java.io.IOException;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Publishes persistent, mandatory messages and waits for the broker's confirm, on its own connection: a broker in alarm
 * blocks publishing connections, and must not stop consumers with them. A lost connection is replaced in the
 * background; meanwhile every publishing fails at once.
 */
public final class ConfirmPublisher implements Gauges, AutoCloseable {

    private final PublisherCounters counters = new PublisherCounters();
    private final PublisherSupervisor supervisor;

    public ConfirmPublisher(BrokerConnections connections, QueueTopology topology, PublisherRoute route) {
        Duration startTimeout = connections.settings().startTimeout();
        this.supervisor = new PublisherSupervisor(route.name(), startTimeout, () -> open(connections, topology, route));
    }

    private PublisherSession open(BrokerConnections connections, QueueTopology topology, PublisherRoute route)
            throws IOException, TimeoutException {
        PublisherSession session = PublisherSession.open(connections, topology, route, counters);
        counters.connections.increment();
        return session;
    }

    /**
     * Connects and declares the topology.
     *
     * @throws IllegalStateException the broker did not answer within the start time-out, or holds other settings
     */
    public void start() {
        supervisor.start();
    }

    /** Sends the message and waits for the broker's word, at most {@code wait}; never throws for the broker's sake. */
    public PublishOutcome publish(OutgoingMessage message, Duration wait) {
        PublisherSession session = supervisor.session();
        if (session == null) {
            return PublishOutcome.DISCONNECTED;
        }
        Publication publication = new Publication(message);
        session.publish(publication);
        PublishOutcome outcome = await(publication.outcome(), wait);
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
        // Completed, so that a message still in the outbox is not sent after its sender was told; a confirm that came
        // in this very moment still counts.
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
        return supervisor.session() == null
                ? Map.of()
                : Map.of("publish.confirms", "true", "publish.mandatory", "true", "publish.delivery_mode", "2");
    }

    @Override
    public Map<String, Double> read() {
        PublisherSession session = supervisor.session();
        Map<String, Double> gauges = new HashMap<>(counters.read());
        gauges.put("connected", session == null ? 0.0 : 1.0);
        gauges.put("blocked", session != null && session.blocked() ? 1.0 : 0.0);
        gauges.put("unconfirmed", session == null ? 0.0 : session.unconfirmed());
        return gauges;
    }

    @Override
    public void close() {
        supervisor.close();
    }
}
