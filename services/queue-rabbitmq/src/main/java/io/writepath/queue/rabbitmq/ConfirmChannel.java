package io.writepath.queue.rabbitmq;

import com.rabbitmq.client.AMQP;
import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Return;
import com.rabbitmq.client.ShutdownSignalException;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.NavigableMap;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentNavigableMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

/**
 * One channel in confirm mode with the one thread that publishes on it, posts that arrive together in one message.
 * Senders hand over and wait for the outcome, so no sender ever hangs in a socket write: a frozen or blocked broker
 * stops reading, and a write has no time-out.
 */
final class ConfirmChannel {

    private static final int OUTBOX_CAPACITY = 8192;
    private static final Duration LOOK_FOR_ANSWERED = Duration.ofMillis(100);

    private final Channel channel;
    private final PublisherRoute route;
    private final PublisherCounters counters;
    private final Runnable onReturned;
    private final Semaphore slots;
    private final BlockingQueue<Publication> outbox = new ArrayBlockingQueue<>(OUTBOX_CAPACITY);
    private final ConcurrentNavigableMap<Long, Group> unconfirmed = new ConcurrentSkipListMap<>();
    private final Thread writer;
    private volatile boolean closed;

    /** @param onReturned told of each message that came back, on a thread of the connection: must not wait */
    ConfirmChannel(Channel channel, PublisherRoute route, PublisherCounters counters, Runnable onReturned)
            throws IOException {
        this.channel = channel;
        this.route = route;
        this.counters = counters;
        this.onReturned = onReturned;
        this.slots = new Semaphore(route.grouping().unconfirmedMax());
        if (route.mode().confirms()) {
            channel.confirmSelect();
        }
        channel.addConfirmListener(
                (sequence, multiple) -> settle(sequence, multiple, PublishOutcome.CONFIRMED),
                (sequence, multiple) -> settle(sequence, multiple, PublishOutcome.NACKED));
        channel.addReturnListener(this::onReturn);
        // A platform thread: on JDK 21 the library's synchronized writes would pin a carrier of the virtual ones.
        writer = Thread.ofPlatform().daemon().name(route.name()).start(this::publishUntilClosed);
    }

    /** Takes the publication, unless too many wait already: false then. */
    boolean offer(Publication publication) {
        boolean taken = outbox.offer(publication);
        if (closed) {
            settleAll(PublishOutcome.LOST);
        }
        return taken;
    }

    /** Posts handed over and not confirmed. */
    int unconfirmed() {
        return outbox.size()
                + unconfirmed.values().stream()
                        .mapToInt(group -> group.posts().size())
                        .sum();
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
                awaitSlot();
                Group group = new Group(gather(), slots);
                if (group.posts().isEmpty()) {
                    group.release();
                } else {
                    publish(group);
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (IOException | ShutdownSignalException e) {
            close();
        }
    }

    /**
     * A message whose posts have all been answered, as none was confirmed in time, holds up the next one no longer: a
     * broker that came through a fault may never confirm it.
     */
    private void awaitSlot() throws InterruptedException {
        while (!slots.tryAcquire(LOOK_FOR_ANSWERED.toMillis(), TimeUnit.MILLISECONDS)) {
            unconfirmed.values().stream().filter(Group::isAnswered).forEach(Group::release);
        }
    }

    /**
     * Waits for a post and takes those along that wait already. Whose sender gave up stays out: what was answered is
     * «unknown», and it had better be «not written».
     */
    private List<Publication> gather() throws InterruptedException {
        List<Publication> posts = new ArrayList<>();
        int bytes = 0;
        Publication next = outbox.take();
        while (next != null) {
            if (!next.outcome().isDone()) {
                posts.add(next);
                bytes += next.message().body().length;
            }
            next = route.grouping().takesMore(posts.size(), bytes) ? outbox.poll() : null;
        }
        return posts;
    }

    private void publish(Group group) throws IOException {
        PublishMode mode = route.mode();
        long sequence = channel.getNextPublishSeqNo();
        if (mode.confirms()) {
            // Registered before it is sent: the confirm may be faster than the return of basicPublish.
            unconfirmed.put(sequence, group);
        }
        OutgoingMessage message = group.message();
        AMQP.BasicProperties properties = PostMessages.properties(message, sequence, mode.deliveryMode());
        channel.basicPublish(route.exchange(), QueueNames.ROUTING_KEY, mode.mandatory(), properties, message.body());
        counters.sent(group.posts().size());
        if (!mode.confirms()) {
            group.release();
            group.answer(PublishOutcome.SENT);
        }
        if (closed) {
            settleAll(PublishOutcome.LOST);
        }
    }

    /** Comes before the confirm of the same message, on the same thread. */
    private void onReturn(Return returned) {
        onReturned.run();
        Group group = unconfirmed.get(Long.parseLong(returned.getProperties().getCorrelationId()));
        if (group != null) {
            counters.returned.add(group.posts().size());
            group.answer(PublishOutcome.RETURNED);
        }
    }

    private void settle(long sequence, boolean multiple, PublishOutcome outcome) {
        if (!multiple) {
            Group group = unconfirmed.remove(sequence);
            if (group != null) {
                settle(group, outcome);
            }
            return;
        }
        NavigableMap<Long, Group> range = unconfirmed.headMap(sequence, true);
        // One by one: what is put in between a look at all and the removal of all would wait for its time-out.
        for (var next = range.pollFirstEntry(); next != null; next = range.pollFirstEntry()) {
            settle(next.getValue(), outcome);
        }
    }

    private void settle(Group group, PublishOutcome outcome) {
        group.release();
        group.posts().forEach(post -> settle(post, outcome));
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
