package io.writepath.store.elasticsearch;

import java.io.IOException;
import java.time.Duration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.context.SmartLifecycle;

/**
 * Makes the index once the cluster answers, however late, beside the application's start: until then the application is
 * up and not ready, and refuses writes.
 */
final class IndexStarter implements SmartLifecycle {

    private static final Logger log = LoggerFactory.getLogger(IndexStarter.class);
    private static final Duration PAUSE = Duration.ofMillis(500);

    private final Attempt attempt;
    private final Duration reminder;
    private volatile boolean running;

    /**
     * Starts with the application.
     *
     * @param reminder how long after the last one the log says again that there is no index
     */
    IndexStarter(Attempt attempt, Duration reminder) {
        this.attempt = attempt;
        this.reminder = reminder;
    }

    /** To make the index. */
    interface Attempt {
        void run() throws IOException;
    }

    @Override
    public void start() {
        running = true;
        Thread.ofVirtual().name("elasticsearch-index").start(this::ensureIndex);
    }

    private void ensureIndex() {
        long saidNanos = System.nanoTime();
        while (running) {
            try {
                attempt.run();
                return;
            } catch (IOException | RuntimeException failure) { // whatever it is: a thread that ends never tries again
                log.debug("no index yet", failure);
                if (System.nanoTime() - saidNanos >= reminder.toNanos()) {
                    saidNanos = System.nanoTime();
                    log.error("there is still no index, and no write is taken: {}", Failures.reason(failure));
                }
            }
            pause();
        }
    }

    private void pause() {
        try {
            Thread.sleep(PAUSE);
        } catch (InterruptedException interrupted) {
            running = false;
        }
    }

    @Override
    public void stop() {
        running = false;
    }

    @Override
    public boolean isRunning() {
        return running;
    }
}
