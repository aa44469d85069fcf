package io.writepath.web;

import io.writepath.post.Gauges;
import io.writepath.post.InFlight;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.util.Map;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;
import org.springframework.web.servlet.HandlerInterceptor;

/**
 * Admits so many requests at a time and refuses the rest at once. Virtual threads bound nothing, so that without this
 * one cap each path would queue wherever its own pool happens to end, and a comparison would be one of queueing.
 */
public final class InFlightLimit implements HandlerInterceptor, InFlight, Gauges {

    private final int inFlightMax;
    private final Semaphore permits;
    private final LongAdder rejected = new LongAdder();

    public InFlightLimit(int inFlightMax) {
        if (inFlightMax < 1) {
            throw new IllegalArgumentException("IN_FLIGHT_MAX must be at least 1, not " + inFlightMax);
        }
        this.inFlightMax = inFlightMax;
        this.permits = new Semaphore(inFlightMax);
    }

    @Override
    public int inFlight() {
        return inFlightMax - permits.availablePermits();
    }

    @Override
    public boolean preHandle(HttpServletRequest request, HttpServletResponse response, Object handler) {
        if (!permits.tryAcquire()) {
            rejected.increment();
            throw new TooMuchInFlightException(inFlightMax);
        }
        return true;
    }

    @Override
    public void afterCompletion(
            HttpServletRequest request, HttpServletResponse response, Object handler, @Nullable Exception failure) {
        permits.release();
    }

    @Override
    public Map<String, Double> read() {
        return Map.of(
                "in_flight", (double) inFlight(),
                "in_flight_max", (double) inFlightMax,
                "in_flight_rejected", rejected.doubleValue());
    }
}
