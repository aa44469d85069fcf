package io.writepath.queue.rabbitmq;

import com.rabbitmq.client.AMQP;
import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Return;
import com.rabbitmq.client.ShutdownSignalException;
import java.io.IOException;
import java.util.NavigableMap;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentNavigableMap;
import java.util.concurrent.ConcurrentSkipListMap;

/**
 * One channel in confirm mode with the one thread that publishes on it. Senders hand over and wait for the outcome, so
 * no sender ever hangs in a socket write: a frozen or blocked broker stops reading, and a write has no time-out.
 */
final class ConfirmChannel {

    private static final int OUTBOX_CAPACITY = 2048;

    private final Channel channel;
    private final PublisherRoute route;
    private final PublisherCounters counters;
    private final Runnable onReturned;
    private final BlockingQueue<Publication> outbox = new ArrayBlockingQueue<>(OUTBOX_CAPACITY);
    private final ConcurrentNavigableMap<Long, Publication> unconfirmed = new ConcurrentSkipListMap<>();
    private final Thread writer;
    private volatile boolean closed;

    /** @param onReturned told of each message that came back, on a thread of the connection: must not wait */
    ConfirmChannel(Channel channel, PublisherRoute route, int number, PublisherCounters counters, Runnable onReturned)
            throws IOException {
        this.channel = channel;
        this.route = route;
        this.counters = counters;
        this.onReturned = onReturned;
        if (route.mode().confirms()) {
            channel.confirmSelect();
        }
        channel.addConfirmListener(
                (sequence, multiple) -> settle(sequence, multiple, PublishOutcome.CONFIRMED),
                (sequence, multiple) -> settle(sequence, multiple, PublishOutcome.NACKED));
        channel.addReturnListener(this::onReturn);
        // A platform thread: on JDK 21 the library's synchronized writes would pin a carrier of the virtual ones.
        writer = Thread.ofPlatform().daemon().name(route.name() + "-" + number).start(this::publishUntilClosed);
    }

    /** Takes the publication, unless too many wait already: false then. */
    boolean offer(Publication publication) {
        boolean taken = outbox.offer(publication);
        if (closed) {
            settleAll(PublishOutcome.LOST);
        }
        return taken;
    }

    int unconfirmed() {
        return outbox.size() + unconfirmed.size();
    }

    /** What the broker has, or may have, ends as lost: nobody knows whether it was queued. */
    void close() {
        closed = true;
        settleAll(PublishOutcome.LOST);
        writer.interrupt();
    }

    private void publishUntilClosed() {
        try {
            while (!closed) {
                Publication publication = outbox.take();
                if (!publication.outcome().isDone()) {
                    publish(publication);
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (IOException | ShutdownSignalException e) {
            close();
        }
    }

    private void publish(Publication publication) throws IOException {
        PublishMode mode = route.mode();
        long sequence = channel.getNextPublishSeqNo();
        if (mode.confirms()) {
            // Registered before it is sent: the confirm may be faster than the return of basicPublish.
            unconfirmed.put(sequence, publication);
        }
        AMQP.BasicProperties properties = PostMessages.properties(publication.message(), sequence, mode.deliveryMode());
        channel.basicPublish(
                route.exchange(),
                QueueNames.ROUTING_KEY,
                mode.mandatory(),
                properties,
                publication.message().body());
        if (!mode.confirms()) {
            publication.outcome().complete(PublishOutcome.SENT);
        }
        if (closed) {
            settleAll(PublishOutcome.LOST);
        }
    }

    /** Comes before the confirm of the same message, on the same thread. */
    private void onReturn(Return returned) {
        counters.returned.increment();
        onReturned.run();
        Publication publication =
                unconfirmed.get(Long.parseLong(returned.getProperties().getCorrelationId()));
        if (publication != null) {
            publication.outcome().complete(PublishOutcome.RETURNED);
        }
    }

    private void settle(long sequence, boolean multiple, PublishOutcome outcome) {
        if (!multiple) {
            Publication publication = unconfirmed.remove(sequence);
            if (publication != null) {
                settle(publication, outcome);
            }
            return;
        }
        NavigableMap<Long, Publication> range = unconfirmed.headMap(sequence, true);
        // One by one: what is put in between a look at all and the removal of all would wait for its time-out.
        for (var next = range.pollFirstEntry(); next != null; next = range.pollFirstEntry()) {
            settle(next.getValue(), outcome);
        }
    }

    /** Does nothing to a returned or timed-out one: its sender has its answer. */
    private void settle(Publication publication, PublishOutcome outcome) {
        boolean first = publication.outcome().complete(outcome);
        switch (outcome) {
            case CONFIRMED -> {
                if (first) {
                    counters.confirmed.increment();
                }
            }
            case NACKED -> counters.nacked.increment();
            default -> counters.lost.increment();
        }
    }

    private void settleAll(PublishOutcome outcome) {
        settle(Long.MAX_VALUE, true, outcome);
        for (Publication waiting = outbox.poll(); waiting != null; waiting = outbox.poll()) {
            settle(waiting, outcome);
        }
    }
}
