package io.writepath.rabbitmq.consumer;

import io.writepath.queue.rabbitmq.Backoff;
import java.time.Duration;
import java.util.function.BooleanSupplier;

/** Waiting between attempts for something that is down, without outliving the wish to have it done. */
final class Patience {

    private static final Duration LONGEST_PAUSE = Duration.ofSeconds(1);
    private static final Duration STEP = Duration.ofMillis(20);

    private final BooleanSupplier wanted;
    private final Backoff backoff = new Backoff(LONGEST_PAUSE);

    /**
     * Waits as long as the batch is wanted.
     *
     * @param wanted false once the application stops, the connection is gone or a reset throws the batch away
     */
    Patience(BooleanSupplier wanted) {
        this.wanted = wanted;
    }

    /** Waits before the next attempt, longer each time. */
    void pause() throws AbandonedException, InterruptedException {
        long until = System.nanoTime() + backoff.next().toNanos();
        do {
            check();
            Thread.sleep(STEP);
        } while (System.nanoTime() < until);
    }

    /** Throws once it is not wanted any more. */
    void check() throws AbandonedException {
        if (!wanted.getAsBoolean()) {
            throw new AbandonedException();
        }
    }

    /** The batch is not wanted any more; the broker delivers it again unless it was thrown away. */
    static final class AbandonedException extends Exception {

        private static final long serialVersionUID = 1L;
    }
}
