package io.writepath.queue.rabbitmq;

import com.rabbitmq.client.AMQP;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Keeps one publishing session open: opens the first, and another whenever one has ended. */
final class PublisherSupervisor implements AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger(PublisherSupervisor.class);
    private static final Duration LONGEST_PAUSE = Duration.ofSeconds(1);
    private static final Duration STABLE = Duration.ofSeconds(1);

    private final String name;
    private final Duration startTimeout;
    private final Callable<PublisherSession> opener;
    private final CompletableFuture<Void> firstSession = new CompletableFuture<>();
    private final Thread thread;
    private volatile @Nullable PublisherSession session;
    private volatile @Nullable Exception lastFailure;

    PublisherSupervisor(String name, Duration startTimeout, Callable<PublisherSession> opener) {
        this.name = name;
        this.startTimeout = startTimeout;
        this.opener = opener;
        this.thread = Thread.ofPlatform().daemon().name(name + "-supervisor").unstarted(this::supervise);
    }

    void start() {
        thread.start();
        try {
            firstSession.get(startTimeout.toMillis(), TimeUnit.MILLISECONDS);
        } catch (TimeoutException e) {
            close();
            throw new IllegalStateException(
                    "no broker for %s within %d s".formatted(name, startTimeout.toSeconds()), lastFailure);
        } catch (ExecutionException e) {
            close();
            throw new IllegalStateException(
                    "the broker refuses the topology of %s: it holds other settings".formatted(name), e.getCause());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            close();
            throw new IllegalStateException("interrupted while %s connected".formatted(name), e);
        }
    }

    /** The open session, or null while there is none. */
    @Nullable
    PublisherSession session() {
        return session;
    }

    @Override
    public void close() {
        thread.interrupt();
        PublisherSession open = session;
        session = null;
        if (open != null) {
            open.close();
        }
    }

    private void supervise() {
        Backoff backoff = new Backoff(LONGEST_PAUSE);
        try {
            while (!Thread.currentThread().isInterrupted()) {
                Thread.sleep(backoff.next());
                long openedAt = System.nanoTime();
                superviseOne();
                // A session that breaks at once, again and again, must not become a busy loop.
                if (System.nanoTime() - openedAt > STABLE.toNanos()) {
                    backoff.reset();
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void superviseOne() throws InterruptedException {
        try (PublisherSession opened = opener.call()) {
            session = opened;
            firstSession.complete(null);
            log.info("{} connected", name);
            opened.awaitEnd();
            log.warn("{} lost its connection", name);
        } catch (InterruptedException e) {
            throw e;
        } catch (Exception e) {
            lastFailure = e;
            log.warn("{} cannot connect: {}", name, reason(e));
            if (isRefusedTopology(e)) {
                firstSession.completeExceptionally(e);
            }
        } finally {
            session = null;
        }
    }

    private static boolean isRefusedTopology(Exception failure) {
        AMQP.Channel.Close refusal = BrokerConnections.refusal(failure);
        return refusal != null && refusal.getReplyCode() == AMQP.PRECONDITION_FAILED;
    }

    private static String reason(Exception failure) {
        return failure.getMessage() == null && failure.getCause() != null
                ? failure.getCause().toString()
                : failure.toString();
    }
}
