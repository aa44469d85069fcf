package io.writepath.web;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.writepath.testsupport.Metrics;
import org.junit.jupiter.api.Test;
import org.springframework.mock.web.MockHttpServletRequest;
import org.springframework.mock.web.MockHttpServletResponse;

class InFlightLimitTests {

    private final InFlightLimit limit = new InFlightLimit(2);

    @Test
    void refusesTheOneOverTheLimitAndCountsIt() {
        enter();
        enter();
        assertThatExceptionOfType(TooMuchInFlightException.class).isThrownBy(this::enter);
        assertThat(Metrics.of(limit))
                .containsEntry("in_flight", 2.0)
                .containsEntry("in_flight_rejected", 1.0)
                .containsEntry("in_flight_max", 2.0);
    }

    @Test
    void admitsAgainOnceARequestHasLeft() {
        enter();
        enter();
        leave();
        enter();
        assertThat(limit.inFlight()).isEqualTo(2);
    }

    private void enter() {
        limit.preHandle(new MockHttpServletRequest(), new MockHttpServletResponse(), this);
    }

    private void leave() {
        limit.afterCompletion(new MockHttpServletRequest(), new MockHttpServletResponse(), this, null);
    }
}
