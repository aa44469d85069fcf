package io.writepath.rabbitmq.consumer;

import io.writepath.post.Post;
import io.writepath.post.PostBatchWriter;
import io.writepath.post.PostBatchWriter.Outcome;
import io.writepath.post.StoreUnavailableException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Stores a batch whatever it takes: waits in place for a store that is down, because a requeued message comes back at
 * once and uses up its delivery limit; finds the one row that makes a batch fail.
 */
final class BatchStoring {

    private static final Logger log = LoggerFactory.getLogger(BatchStoring.class);

    /** After so many failures in a row it is the store: trying hundreds more would only take their time-outs. */
    private static final int UNEXPLAINED_IN_A_ROW = 5;

    /** About half a minute of unexplained failures before a post is blamed. */
    private static final int UNEXPLAINED_ROUNDS = 30;

    private final PostBatchWriter writer;
    private final ConsumerCounters counters;

    BatchStoring(PostBatchWriter writer, ConsumerCounters counters) {
        this.writer = writer;
        this.counters = counters;
    }

    /** One outcome a post, in order; REJECTED also for a post that fails again and again without a reason. */
    List<Outcome> store(List<Post> posts, Patience patience) throws Patience.AbandonedException, InterruptedException {
        for (int round = 1; ; round++) {
            try {
                return write(posts, patience);
            } catch (StoreFailure e) {
                log.warn("a batch of {} failed, trying its posts one by one", posts.size(), e.getCause());
            }
            // One success proves that the store works, so the others fail by their own fault. When all fail, it is
            // rather the store: parking them would strand good posts, so that is only the last resort.
            boolean lastResort = round >= UNEXPLAINED_ROUNDS;
            List<Optional<Outcome>> singles = writeSingly(posts, lastResort, patience);
            if (singles.stream().anyMatch(Optional::isPresent) || lastResort) {
                return singles.stream()
                        .map(single -> single.orElse(Outcome.REJECTED))
                        .toList();
            }
            counters.storeRetries.increment();
            patience.pause();
        }
    }

    /** Ends early, without any success, when the first ones all fail and it is not the last resort. */
    private List<Optional<Outcome>> writeSingly(List<Post> posts, boolean lastResort, Patience patience)
            throws Patience.AbandonedException, InterruptedException {
        List<Optional<Outcome>> outcomes = new ArrayList<>(posts.size());
        for (Post post : posts) {
            try {
                outcomes.add(Optional.of(write(List.of(post), patience).getFirst()));
            } catch (StoreFailure e) {
                log.warn("post {} failed alone", post.id(), e.getCause());
                outcomes.add(Optional.empty());
            }
            patience.check();
            boolean noneStored = outcomes.stream().noneMatch(Optional::isPresent);
            if (!lastResort && noneStored && outcomes.size() == UNEXPLAINED_IN_A_ROW) {
                break;
            }
        }
        return outcomes;
    }

    private List<Outcome> write(List<Post> posts, Patience patience)
            throws StoreFailure, Patience.AbandonedException, InterruptedException {
        while (true) {
            try {
                return writer.write(posts);
            } catch (StoreUnavailableException e) {
                counters.storeRetries.increment();
                log.warn("the store is unavailable, {} posts wait: {}", posts.size(), e.getMessage());
                patience.pause();
            } catch (RuntimeException e) {
                throw new StoreFailure(e);
            }
        }
    }

    /** The store answered with something it has no word for. */
    private static final class StoreFailure extends Exception {

        private static final long serialVersionUID = 1L;

        StoreFailure(RuntimeException cause) {
            super(cause);
        }
    }
}
