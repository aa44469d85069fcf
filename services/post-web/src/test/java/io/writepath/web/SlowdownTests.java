package io.writepath.web;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.writepath.post.Post;
import io.writepath.post.PostWriter;
import java.time.Instant;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class SlowdownTests {

    private static final Post POST = new Post(new UUID(1, 2), "content", Instant.EPOCH);
    private static final long READ_NANOS = 10;

    private final AtomicLong now = new AtomicLong();

    @ParameterizedTest
    @CsvSource({"10,1100", "25,1250", "100,2000"})
    void aWriteTakesLongerByThatShareOfWhatItTook(int percent, long expectedMicros) {
        assertThat(slowed(percent).write(takes(TimeUnit.MICROSECONDS.toNanos(1000)), POST))
                .isEqualTo(POST);
        assertThat(TimeUnit.NANOSECONDS.toMicros(now.get())).isEqualTo(expectedMicros);
    }

    @Test
    void byDefaultNothingIsEvenTimed() {
        slowed(0).write(takes(1000), POST);
        assertThat(now).hasValue(1000);
    }

    @Test
    void aWaitLongEnoughToParkEndsNoEarlier() {
        var began = new AtomicLong();
        new Slowdown(100, System::nanoTime)
                .write(
                        post -> {
                            began.set(System.nanoTime());
                            while (System.nanoTime() - began.get() < TimeUnit.MILLISECONDS.toNanos(5)) {
                                Thread.onSpinWait();
                            }
                            return post;
                        },
                        POST);
        assertThat(System.nanoTime() - began.get()).isGreaterThanOrEqualTo(TimeUnit.MILLISECONDS.toNanos(10));
    }

    @Test
    void aWriteThatFailsIsNotHeldUp() {
        PostWriter failing = post -> {
            now.addAndGet(1_000_000);
            throw new IllegalStateException("broken");
        };
        assertThatExceptionOfType(IllegalStateException.class)
                .isThrownBy(() -> slowed(100).write(failing, POST));
        assertThat(now.get()).isLessThan(1_000_000 + 10 * READ_NANOS);
    }

    @ParameterizedTest
    @ValueSource(ints = {-1, 101})
    void refusesWhatIsNoShare(int percent) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> slowed(percent))
                .withMessageContaining("SLOWDOWN_PERCENT");
    }

    /** Reading the clock takes a moment too, so that waiting comes to an end. */
    private Slowdown slowed(int percent) {
        return new Slowdown(percent, () -> now.getAndAdd(READ_NANOS));
    }

    private PostWriter takes(long nanos) {
        return post -> {
            now.addAndGet(nanos);
            return post;
        };
    }
}
