package io.writepath.rabbitmq.consumer;

import jakarta.validation.constraints.Min;
import java.time.Duration;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.validation.annotation.Validated;

/**
 * How the queue is emptied.
 *
 * @param batchMessages most messages that are acknowledged together; each may hold hundreds of posts
 * @param batchPosts most posts in one write to the store
 * @param prefetch most messages delivered and not acknowledged: the next batch is here while this one commits
 * @param acknowledge when the broker may forget a message; on delivery only in a naive twin
 * @param linger how long a batch that is not full waits for more: twice this at most
 */
@Validated
@ConfigurationProperties("writepath.consumer")
record ConsumerSettings(
        @DefaultValue("64") @Min(1) int batchMessages,
        @DefaultValue("500") @Min(1) int batchPosts,
        @DefaultValue("128") @Min(2) int prefetch,
        @DefaultValue("after-store") Acknowledge acknowledge,
        @DefaultValue("10ms") Duration linger) {

    enum Acknowledge {
        AFTER_STORE,
        ON_DELIVERY
    }

    ConsumerSettings {
        if (prefetch < 2 * batchMessages) {
            throw new IllegalArgumentException(
                    "writepath.consumer.prefetch (%d) must be at least twice writepath.consumer.batch-messages (%d)"
                            .formatted(prefetch, batchMessages));
        }
    }
}
