package io.writepath.store.jpa;

import jakarta.validation.constraints.Max;
import jakarta.validation.constraints.Min;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.validation.annotation.Validated;

/**
 * The table of posts, and how it is written to.
 *
 * @param searchIndex what helps a search, and is paid for by every write
 * @param writeMode one transaction a post, or one for those that arrive together
 * @param insertsInFlight inserts under way at most, where posts share them; the posts that arrive meanwhile make up the
 *     next one
 */
@Validated
@ConfigurationProperties("writepath.postgres")
record PostgresSettings(
        @DefaultValue("none") SearchIndex searchIndex,
        @DefaultValue("single") WriteMode writeMode,
        @DefaultValue("2") @Min(1) @Max(64) int insertsInFlight) {

    enum WriteMode {
        SINGLE,
        BATCHED
    }
}
