package io.writepath.post;

import java.util.Map;

/**
 * Figures a component can tell about itself at one moment, sampled each second: {@code pool_active},
 * {@code pool_waiting}.
 */
public interface Gauges {

    Map<String, Double> read();
}
