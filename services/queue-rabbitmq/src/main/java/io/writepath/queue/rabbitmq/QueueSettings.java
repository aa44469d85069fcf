package io.writepath.queue.rabbitmq;

import jakarta.validation.constraints.Min;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.ConstructorBinding;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.util.unit.DataSize;
import org.springframework.validation.annotation.Validated;

/**
 * What the queue is declared with; producer and consumer must agree, or the broker refuses the second.
 *
 * @param maxLength messages ready and unacknowledged at which the broker refuses more, which the client sees as 503.
 *     The default holds an hour of the original load many times over
 * @param maxSize what all their bodies may have together, about as much disk; a message may hold hundreds of posts
 * @param deliveryLimit deliveries without acknowledgement before the broker dead-letters. Written out because the
 *     broker's own default went from none (3.10) to 20 (4.0), which one crash-looping consumer uses up
 * @param type any but quorum is a twin's
 */
@Validated
@ConfigurationProperties("writepath.queue")
public record QueueSettings(
        @DefaultValue("1000000") @Min(1) long maxLength,
        @DefaultValue("1GB") DataSize maxSize,
        @DefaultValue("100") @Min(1) int deliveryLimit,
        @DefaultValue("quorum") Type type) {

    @ConstructorBinding
    public QueueSettings {}

    public QueueSettings(long maxLength, int deliveryLimit) {
        this(maxLength, deliveryLimit, Type.QUORUM);
    }

    public QueueSettings(long maxLength, int deliveryLimit, Type type) {
        this(maxLength, DataSize.ofGigabytes(1), deliveryLimit, type);
    }

    public enum Type {
        QUORUM,
        /** Durable, and bounded by nothing: as tutorials declare it. */
        CLASSIC,
        /** Durable, of the one version of RabbitMQ 4: confirmed once it is written, flushed or not. */
        CLASSIC_V2,
        /** In memory, with messages to match: gone when the broker restarts. */
        CLASSIC_TRANSIENT
    }
}
