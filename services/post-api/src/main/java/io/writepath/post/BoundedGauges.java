package io.writepath.post;

import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Figures that another process must be asked for: on a thread of their own, and waited for no longer than they are
 * worth. A store that hangs so costs neither the other figures nor the inspector's threads. While a question is open no
 * second one is asked.
 */
public final class BoundedGauges implements Gauges, AutoCloseable {

    private final Gauges asked;
    private final Duration wait;
    private final ExecutorService thread;
    private final Semaphore free = new Semaphore(1);

    /**
     * Asks nothing yet.
     *
     * @param name of the thread
     * @param wait after which a reading is empty
     */
    public BoundedGauges(String name, Gauges asked, Duration wait) {
        this.asked = asked;
        this.wait = wait;
        this.thread = Executors.newSingleThreadExecutor(
                Thread.ofPlatform().daemon().name(name).factory());
    }

    /** Empty where no answer came in time: what could not be measured is unknown, never zero. */
    @Override
    public Map<String, Double> read() {
        if (!free.tryAcquire()) {
            return Map.of();
        }
        try {
            return ask().get(wait.toMillis(), TimeUnit.MILLISECONDS);
        } catch (TimeoutException | ExecutionException unknown) {
            return Map.of();
        } catch (RejectedExecutionException closed) {
            free.release();
            return Map.of();
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            return Map.of();
        }
    }

    private Future<Map<String, Double>> ask() {
        return thread.submit(() -> {
            try {
                return asked.read();
            } finally {
                free.release();
            }
        });
    }

    /** Closes what it asks, too, where that can be closed. */
    @Override
    public void close() {
        thread.shutdownNow();
        if (asked instanceof AutoCloseable open) {
            try {
                open.close();
            } catch (Exception gone) {
                throw new IllegalStateException(gone);
            }
        }
    }
}
