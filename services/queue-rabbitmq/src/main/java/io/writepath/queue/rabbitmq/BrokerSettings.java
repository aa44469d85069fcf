package io.writepath.queue.rabbitmq;

import java.time.Duration;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * Where the broker is and how long to wait for it.
 *
 * @param addresses {@code host:port}, several separated by commas
 * @param heartbeat a frozen broker is given up after about two of these
 * @param startTimeout how long an application waits for a broker that is still starting
 */
@ConfigurationProperties("spring.rabbitmq")
public record BrokerSettings(
        @DefaultValue("127.0.0.1:5672") String addresses,
        @DefaultValue("writepath") String username,
        @DefaultValue("writepath") String password,
        @DefaultValue("/") String virtualHost,
        @DefaultValue("10s") Duration heartbeat,
        @DefaultValue("120s") Duration startTimeout) {

    /** Without the password: records print all their components. */
    @Override
    public String toString() {
        return "%s as %s, virtual host %s".formatted(addresses, username, virtualHost);
    }
}
