package io.writepath.store.elasticsearch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.net.ConnectException;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

@ExtendWith(OutputCaptureExtension.class)
class IndexStarterTests {

    private static final int FAILURES = 3;

    private final AtomicInteger attempts = new AtomicInteger();

    @Test
    void neverGivesUpAndSaysSoAgainAndAgain(CapturedOutput output) {
        IndexStarter starter = new IndexStarter(this::fail, Duration.ZERO);
        starter.start();
        await().atMost(Duration.ofSeconds(10)).until(() -> attempts.get() > FAILURES);
        starter.stop();
        assertThat(output.getAll().lines().filter(line -> line.contains("there is still no index")))
                .hasSize(FAILURES)
                .first()
                .asString()
                .contains("Elasticsearch cannot be reached");
    }

    private void fail() throws IOException {
        switch (attempts.incrementAndGet()) {
            case 1 -> throw new ConnectException();
            case 2, FAILURES -> throw new IllegalStateException("an answer that nobody foresaw");
            default -> {}
        }
    }
}
