package io.writepath.rabbitmq.producer;

import java.time.Duration;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * How posts are published.
 *
 * @param channels all on one connection
 * @param confirmTimeout how long a request waits for the broker's word; below the application deadline of 5 s
 */
@ConfigurationProperties("writepath.publisher")
record PublisherSettings(
        @DefaultValue("4") int channels, @DefaultValue("2s") Duration confirmTimeout) {}
