package io.writepath.rabbitmq.consumer;

import com.rabbitmq.client.Channel;
import com.rabbitmq.client.ShutdownSignalException;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.amqp.core.Message;
import org.springframework.amqp.rabbit.connection.ChannelProxy;
import org.springframework.amqp.rabbit.listener.api.ChannelAwareBatchMessageListener;
import org.springframework.amqp.rabbit.support.ConsumerCancelledException;

/**
 * Takes batches from the container, one at a time, and acknowledges each once nothing of it can get lost. An
 * acknowledgement covers all before it, so a batch that was left, for whatever reason, must not be followed by another
 * on the same channel.
 */
final class BatchListener implements ChannelAwareBatchMessageListener {

    private static final Logger log = LoggerFactory.getLogger(BatchListener.class);

    private final BatchProcessor processor;
    private final Deliveries deliveries;
    private final ConsumerCounters counters;
    private final BooleanSupplier active;
    private final ReentrantLock inHand = new ReentrantLock();
    private final List<Message> gathered = new ArrayList<>();
    private volatile boolean discarding;

    /**
     * Listens.
     *
     * @param active false once the container stops
     */
    BatchListener(BatchProcessor processor, Deliveries deliveries, ConsumerCounters counters, BooleanSupplier active) {
        this.processor = processor;
        this.deliveries = deliveries;
        this.counters = counters;
        this.active = active;
    }

    @Override
    public void onMessageBatch(List<Message> messages, @Nullable Channel proxy) {
        // The proxy would open another channel for a broken one, on which these tags mean nothing.
        gathered.clear();
        Channel channel = proxy instanceof ChannelProxy cached ? cached.getTargetChannel() : proxy;
        long begun = System.nanoTime();
        inHand.lock();
        try {
            if (channel != null && wanted(channel)) {
                finish(messages.stream().map(Delivery::of).toList(), channel);
            }
        } finally {
            inHand.unlock();
            counters.busyNanos.add(System.nanoTime() - begun);
        }
    }

    /** Told of every message as the container takes it up for the next batch; on the container's own thread. */
    Message gather(Message message) {
        gathered.add(message);
        return message;
    }

    /**
     * Stores what the container drops when the broker cancels it with a batch half gathered: the queue was deleted, so
     * this is the only copy. Not acknowledged, as the channel is about to end. After any other end the broker delivers
     * it again.
     */
    void endConsuming(@Nullable Throwable reason) {
        List<Delivery> batch = gathered.stream().map(Delivery::of).toList();
        gathered.clear();
        if (reason instanceof ConsumerCancelledException) {
            storeGathered(batch);
        }
    }

    private void storeGathered(List<Delivery> batch) {
        inHand.lock();
        try {
            if (!batch.isEmpty() && active.getAsBoolean() && !discarding) {
                log.warn("stores {} messages of a queue that ended while they were gathered", batch.size());
                processor.process(batch, () -> active.getAsBoolean() && !discarding);
                counters.rescued.add(posts(batch));
            }
        } catch (Patience.AbandonedException e) {
            log.info("left a batch of {} messages unacknowledged", batch.size());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } finally {
            inHand.unlock();
        }
    }

    /**
     * Runs it between two batches; the one in hand is left, and none is taken up before {@link #resume}.
     *
     * @return false when the batch in hand did not end in time
     */
    boolean discard(IoAction action, Duration wait) throws IOException, InterruptedException {
        discarding = true;
        if (!inHand.tryLock(wait.toMillis(), TimeUnit.MILLISECONDS)) {
            return false;
        }
        try {
            return action.run();
        } finally {
            inHand.unlock();
        }
    }

    void resume() {
        gathered.clear();
        discarding = false;
    }

    private boolean wanted(Channel channel) {
        return active.getAsBoolean() && channel.isOpen() && !discarding;
    }

    private void finish(List<Delivery> batch, Channel channel) {
        long first = batch.getFirst().tag();
        long last = batch.getLast().tag();
        try {
            if (!deliveries.isNext(channel, first, last, batch.size())) {
                log.warn("a batch before tag {} was left; the broker delivers all again", first);
                channel.abort();
                return;
            }
            processor.process(batch, () -> wanted(channel));
            if (deliveries.isAutomatic(channel)) {
                deliveries.basicAck(channel, last, true);
            } else {
                boolean multiple = true;
                channel.basicAck(last, multiple);
            }
            counters.consumed.add(posts(batch));
            counters.messages.add(batch.size());
            counters.batches.increment();
        } catch (Patience.AbandonedException e) {
            log.info("left a batch of {} messages unacknowledged", batch.size());
        } catch (IOException | ShutdownSignalException e) {
            log.warn("{} messages are stored but not acknowledged; the broker delivers them again", batch.size());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static int posts(List<Delivery> batch) {
        return batch.stream().mapToInt(Delivery::posts).sum();
    }

    interface IoAction {
        boolean run() throws IOException;
    }
}
