package io.writepath.rabbitmq.producer;

import jakarta.validation.constraints.Min;
import java.time.Duration;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.validation.annotation.Validated;

/**
 * How posts are published.
 *
 * @param channels all on one connection
 * @param confirms whether a 201 waits for the broker's word; only a naive twin does not
 * @param mandatory whether the broker must say when it has no queue for a post; only a naive twin does without
 * @param confirmTimeout how long a request waits for the broker's word; below the application deadline of 5 s
 */
@Validated
@ConfigurationProperties("writepath.publisher")
record PublisherSettings(
        @DefaultValue("4") @Min(1) int channels,
        @DefaultValue("true") boolean confirms,
        @DefaultValue("true") boolean mandatory,
        @DefaultValue("2s") Duration confirmTimeout) {}
