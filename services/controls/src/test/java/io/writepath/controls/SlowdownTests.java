package io.writepath.controls;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.writepath.post.Post;
import io.writepath.post.PostWriter;
import java.time.Instant;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

class SlowdownTests {

    private static final Post POST = new Post(new UUID(1, 2), "content", Instant.EPOCH);
    private static final long READ_NANOS = 10;

    private final AtomicLong now = new AtomicLong();

    @ParameterizedTest
    @CsvSource({"10,1100", "25,1250", "100,2000"})
    void aWriteTakesLongerByThatShareOfWhatItTook(int percent, long expectedMicros) {
        assertThat(slowed(takes(TimeUnit.MICROSECONDS.toNanos(1000)), percent).write(POST))
                .isEqualTo(POST);
        assertThat(TimeUnit.NANOSECONDS.toMicros(now.get())).isEqualTo(expectedMicros);
    }

    @Test
    void aWaitLongEnoughToParkEndsNoEarlier() {
        var began = new AtomicLong();
        PostWriter busy = post -> {
            began.set(System.nanoTime());
            while (System.nanoTime() - began.get() < TimeUnit.MILLISECONDS.toNanos(5)) {
                Thread.onSpinWait();
            }
            return post;
        };
        new Slowdown(busy, 100, System::nanoTime).write(POST);
        assertThat(System.nanoTime() - began.get()).isGreaterThanOrEqualTo(TimeUnit.MILLISECONDS.toNanos(10));
    }

    @Test
    void aWriteThatFailsIsNotHeldUp() {
        PostWriter failing = post -> {
            now.addAndGet(1_000_000);
            throw new IllegalStateException("broken");
        };
        assertThatExceptionOfType(IllegalStateException.class)
                .isThrownBy(() -> slowed(failing, 100).write(POST));
        assertThat(now.get()).isLessThan(1_000_000 + 10 * READ_NANOS);
    }

    @ParameterizedTest
    @CsvSource({"slowed,true", "another,false"})
    void onlyItsProfileSlowsTheWriter(String profile, boolean slowed) {
        new ApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(SlowedAutoConfiguration.class))
                .withInitializer(context -> context.getEnvironment().addActiveProfile(profile))
                .withBean(PostWriter.class, () -> post -> post)
                .run(context -> assertThat(context.getBean(PostWriter.class) instanceof Slowdown)
                        .isEqualTo(slowed));
    }

    /** Reading the clock takes a moment too, so that waiting comes to an end. */
    private Slowdown slowed(PostWriter writer, int percent) {
        return new Slowdown(writer, percent, () -> now.getAndAdd(READ_NANOS));
    }

    private PostWriter takes(long nanos) {
        return post -> {
            now.addAndGet(nanos);
            return post;
        };
    }
}
