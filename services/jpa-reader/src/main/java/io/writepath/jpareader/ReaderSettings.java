package io.writepath.jpareader;

import jakarta.validation.constraints.Max;
import jakarta.validation.constraints.Min;
import java.time.Duration;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.validation.annotation.Validated;

/**
 * What is loaded at the start, and how long a session lasts.
 *
 * @param users rows of users, who can log in as user-1 with password-1 and so on
 * @param points rows of points, dealt to the users in turn
 * @param exhibitions rows of exhibitions; each has ten artworks, and each tenth is of another artist
 * @param tokenLifetime how long a token is valid
 */
@Validated
@ConfigurationProperties("writepath.reader")
record ReaderSettings(
        @DefaultValue("10000") @Min(1) int users,
        @DefaultValue("100000") @Min(1) int points,

        @DefaultValue("1000") @Min(Feed.PARENTS) @Max(100_000)
        int exhibitions,

        @DefaultValue("1h") Duration tokenLifetime) {}
