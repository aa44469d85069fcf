package io.writepath.post;

import java.util.List;
import java.util.Map;

/** Figures that another process must be asked for, such as a store's waits or a queue's depth; sampled each second. */
public interface SampledFigures {

    /**
     * Asks once, over a connection that nothing else needs.
     *
     * @throws StoreUnavailableException no answer: what could not be read is unknown, never zero
     */
    List<Figure> sample();

    /**
     * One figure at one moment.
     *
     * @param name as metrics have it, {@code queue.ready}, without the prefix of all of ours
     * @param tags what tells it from others of its name; those of one name have the same keys
     */
    record Figure(String name, Map<String, String> tags, double value) {

        public Figure(String name, double value) {
            this(name, Map.of(), value);
        }
    }
}
