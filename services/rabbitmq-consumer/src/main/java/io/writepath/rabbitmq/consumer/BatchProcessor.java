package io.writepath.rabbitmq.consumer;

import io.writepath.post.Post;
import io.writepath.post.PostBatchWriter.Outcome;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.BooleanSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Brings every post of a batch of messages to its end: stored, known to be stored, or parked. Then the messages may be
 * acknowledged.
 */
final class BatchProcessor {

    private static final Logger log = LoggerFactory.getLogger(BatchProcessor.class);

    private final BatchStoring storing;
    private final DeadLetters deadLetters;
    private final ConsumerCounters counters;
    private final int postsMax;

    /** @param postsMax most posts in one write to the store */
    BatchProcessor(BatchStoring storing, DeadLetters deadLetters, ConsumerCounters counters, int postsMax) {
        this.storing = storing;
        this.deadLetters = deadLetters;
        this.counters = counters;
        this.postsMax = postsMax;
    }

    /**
     * Returns once nothing of the batch can get lost any more, however long the store or the broker is down, and
     * whatever else goes wrong.
     *
     * @throws Patience.AbandonedException the batch was not wanted any more; it must not be acknowledged
     */
    void process(List<Delivery> batch, BooleanSupplier wanted)
            throws Patience.AbandonedException, InterruptedException {
        batch.forEach(this::countDelivery);
        Patience patience = new Patience(wanted);
        while (true) {
            try {
                bringToEnd(batch, patience);
                return;
            } catch (RuntimeException e) {
                // Nobody foresaw it, so nobody knows whose fault it is. Given back, the batch would come again at once
                // and use up its delivery limit; then the broker would dead-letter posts that are as good as any.
                log.error("a batch of {} messages failed unexpectedly and is tried again", batch.size(), e);
                patience.pause();
            }
        }
    }

    /** Harmless to repeat: what is stored already is found stored, and what is parked already is parked twice. */
    private void bringToEnd(List<Delivery> batch, Patience patience)
            throws Patience.AbandonedException, InterruptedException {
        List<Incoming> good = new ArrayList<>();
        List<Incoming> bad = new ArrayList<>();
        for (Delivery delivery : batch) {
            for (Incoming incoming : Incoming.of(delivery)) {
                (incoming.objection() == null ? good : bad).add(incoming);
            }
        }
        for (int from = 0; from < good.size(); from += postsMax) {
            patience.check();
            store(good.subList(from, Math.min(from + postsMax, good.size())), bad, patience);
        }
        for (Incoming incoming : bad) {
            deadLetters.park(incoming, patience);
        }
    }

    private void store(List<Incoming> incoming, List<Incoming> bad, Patience patience)
            throws Patience.AbandonedException, InterruptedException {
        List<Post> posts = incoming.stream()
                .map(each -> Objects.requireNonNull(each.post()))
                .toList();
        sort(incoming, storing.store(posts, patience), bad);
        countLag(posts);
    }

    private void sort(List<Incoming> incoming, List<Outcome> outcomes, List<Incoming> bad) {
        for (int i = 0; i < incoming.size(); i++) {
            switch (outcomes.get(i)) {
                case STORED -> counters.stored.increment();
                case ALREADY_STORED -> counters.suppressedDuplicates.increment();
                case CONFLICTING -> bad.add(incoming.get(i).objectedTo("its id is stored with other content"));
                case REJECTED -> bad.add(incoming.get(i).objectedTo("the store rejects it"));
            }
        }
    }

    private void countDelivery(Delivery delivery) {
        if (delivery.redelivered()) {
            counters.redelivered.add(delivery.posts());
        }
        if (!delivery.persistent()) {
            counters.notPersistent.increment();
        }
    }

    private void countLag(List<Post> posts) {
        Instant oldest =
                posts.stream().map(Post::createdAt).min(Instant::compareTo).orElseThrow();
        counters.lagMs.set(Math.max(0, Duration.between(oldest, Instant.now()).toMillis()));
    }
}
