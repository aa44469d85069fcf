package io.writepath.store.elasticsearch;

import co.elastic.clients.elasticsearch._types.ElasticsearchException;
import java.io.IOException;
import java.time.Duration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.context.SmartLifecycle;

/**
 * Makes the index once the cluster answers, beside the application's start: until then the application is up and not
 * ready, and refuses writes.
 */
final class IndexStarter implements SmartLifecycle {

    private static final Logger log = LoggerFactory.getLogger(IndexStarter.class);
    private static final Duration PATIENCE = Duration.ofMinutes(2);
    private static final Duration PAUSE = Duration.ofMillis(500);

    private final PostIndex index;
    private volatile boolean running;

    IndexStarter(PostIndex index) {
        this.index = index;
    }

    @Override
    public void start() {
        running = true;
        Thread.ofVirtual().name("elasticsearch-index").start(this::ensureIndex);
    }

    private void ensureIndex() {
        long deadlineNanos = System.nanoTime() + PATIENCE.toNanos();
        while (running) {
            try {
                index.ensure();
                return;
            } catch (IOException | ElasticsearchException failure) {
                if (System.nanoTime() > deadlineNanos) {
                    log.error("no index after {} s: {}", PATIENCE.toSeconds(), Failures.reason(failure), failure);
                    return;
                }
                log.debug("no index yet", failure);
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
