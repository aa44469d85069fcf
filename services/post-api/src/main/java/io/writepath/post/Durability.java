package io.writepath.post;

import java.util.Map;

/**
 * What an acknowledgement promises, derived from settings read back from the running system, never from our own
 * configuration.
 *
 * @param level A on disk before the answer, B in memory or one copy too few, C handed over
 * @param settings the read-back settings that decide it and those worth knowing, name to value
 */
public record Durability(Level level, Map<String, String> settings) {

    /** Among the settings, where the level is below A: names the one that lowers it. */
    public static final String LOWERED_BY = "lowered_by";

    public enum Level {
        A,
        B,
        C
    }
}
