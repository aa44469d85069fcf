package io.writepath.queue.rabbitmq;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class BackoffTests {

    private final Backoff backoff = new Backoff(Duration.ofMillis(180));

    @Test
    void firstAttemptIsAtOnceAndPausesDoubleUpToTheBound() {
        assertThat(Stream.generate(backoff::next).limit(5).map(Duration::toMillis))
                .containsExactly(0L, 50L, 100L, 180L, 180L);
    }

    @Test
    void aSuccessStartsItAllOverAgain() {
        backoff.next();
        backoff.next();

        backoff.reset();

        assertThat(backoff.next()).isZero();
    }
}
