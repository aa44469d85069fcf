package io.writepath.jpareader;

import java.util.List;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * How a feed is read.
 *
 * @param strategy which queries it is made of
 * @param choice ids of the exhibitions to show in the place of random ones, for tests
 */
@ConfigurationProperties("writepath.feed")
record FeedSettings(
        @DefaultValue("per-parent") Strategy strategy,
        @DefaultValue List<Long> choice) {

    enum Strategy {
        /** Parents joined with their author; the children of each by a query for its id: 6 statements. */
        PER_PARENT,
        /** The parent keeps its children's ids; those of each by a query for their primary keys: 6 statements. */
        BY_KEY,
        /** The parent has its author's name too, so that there is no join: 6 statements. */
        DENORMALISED,
        /** The children of all parents by one query: 2 statements. */
        TWO_QUERIES;

        boolean joinsTheAuthor() {
            return this == PER_PARENT || this == BY_KEY;
        }
    }
}
