package io.writepath.queue.rabbitmq;

import java.time.Duration;

/** Growing pauses between attempts: at once, then 50 ms doubled up to a bound. For one thread. */
public final class Backoff {

    private static final Duration FIRST = Duration.ofMillis(50);

    private final Duration longest;
    private Duration next = Duration.ZERO;

    public Backoff(Duration longest) {
        this.longest = longest;
    }

    /** How long to wait before the next attempt. */
    public Duration next() {
        Duration pause = next;
        Duration doubled = pause.isZero() ? FIRST : pause.multipliedBy(2);
        next = doubled.compareTo(longest) < 0 ? doubled : longest;
        return pause;
    }

    /** After a success: the next failure is retried at once again. */
    public void reset() {
        next = Duration.ZERO;
    }
}
