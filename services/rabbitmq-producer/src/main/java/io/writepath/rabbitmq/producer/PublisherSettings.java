package io.writepath.rabbitmq.producer;

import io.writepath.queue.rabbitmq.Grouping;
import jakarta.validation.constraints.Min;
import java.time.Duration;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.util.unit.DataSize;
import org.springframework.validation.annotation.Validated;

/**
 * How posts are published.
 *
 * @param messagePosts most posts in one message
 * @param messageSize a message of this size takes no further post
 * @param messagesUnconfirmed most messages sent and not confirmed; posts that arrive meanwhile share the next one
 * @param confirms whether a 201 waits for the broker's word; only a naive twin does not
 * @param mandatory whether the broker must say when it has no queue for a post; only a naive twin does without
 * @param confirmTimeout how long a request waits for the broker's word; below the application deadline of 5 s
 */
@Validated
@ConfigurationProperties("writepath.publisher")
record PublisherSettings(
        @DefaultValue("256") @Min(1) int messagePosts,
        @DefaultValue("128KB") DataSize messageSize,
        @DefaultValue("1") @Min(1) int messagesUnconfirmed,
        @DefaultValue("true") boolean confirms,
        @DefaultValue("true") boolean mandatory,
        @DefaultValue("2s") Duration confirmTimeout) {

    Grouping grouping() {
        return new Grouping(messagePosts, Math.toIntExact(messageSize.toBytes()), messagesUnconfirmed);
    }
}
