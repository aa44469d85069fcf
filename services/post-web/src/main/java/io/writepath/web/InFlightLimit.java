package io.writepath.web;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.binder.MeterBinder;
import io.writepath.post.InFlight;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;
import org.springframework.web.servlet.HandlerInterceptor;

/**
 * Admits so many requests at a time and refuses the rest at once. Virtual threads bound nothing, so that without this
 * one cap each path would queue wherever its own pool happens to end, and a comparison would be one of queueing.
 */
public final class InFlightLimit implements HandlerInterceptor, InFlight, MeterBinder {

    private final int inFlightMax;
    private final Semaphore permits;
    private final LongAdder rejected = new LongAdder();

    public InFlightLimit(int inFlightMax) {
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
    public void bindTo(MeterRegistry registry) {
        Gauge.builder("writepath.in.flight", this::inFlight).register(registry);
        Gauge.builder("writepath.in.flight.max", () -> inFlightMax).register(registry);
        FunctionCounter.builder("writepath.in.flight.rejected", rejected, LongAdder::sum)
                .register(registry);
    }
}
