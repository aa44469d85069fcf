package io.writepath.queue.rabbitmq;

import java.time.Duration;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * What {@code spring.rabbitmq} has no word for.
 *
 * @param startTimeout how long an application waits for a broker that is still starting
 */
@ConfigurationProperties("writepath.broker")
public record BrokerSettings(@DefaultValue("120s") Duration startTimeout) {}
