package io.writepath.queue.rabbitmq;

import com.rabbitmq.client.Address;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.ConnectionFactory;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Opens connections that never recover by themselves: each owner replaces a lost one, because only the owner knows what
 * became of the messages on it.
 */
public final class BrokerConnections {

    private static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(2);
    private static final Duration RPC_TIMEOUT = Duration.ofSeconds(5);

    private final BrokerSettings settings;
    private final ConnectionFactory factory = new ConnectionFactory();

    public BrokerConnections(BrokerSettings settings) {
        this.settings = settings;
        factory.setUsername(settings.username());
        factory.setPassword(settings.password());
        factory.setVirtualHost(settings.virtualHost());
        factory.setRequestedHeartbeat((int) settings.heartbeat().toSeconds());
        factory.setConnectionTimeout((int) CONNECT_TIMEOUT.toMillis());
        factory.setHandshakeTimeout((int) RPC_TIMEOUT.toMillis());
        factory.setChannelRpcTimeout((int) RPC_TIMEOUT.toMillis());
        factory.setAutomaticRecoveryEnabled(false);
        factory.setTopologyRecoveryEnabled(false);
    }

    /** Opens one connection; the name is what the broker's own tools show. */
    public Connection open(String name) throws IOException, TimeoutException {
        return factory.newConnection(Address.parseAddresses(settings.addresses()), name);
    }

    public BrokerSettings settings() {
        return settings;
    }

    /** Closes without waiting for an answer that a dead broker never gives. */
    public static void abort(Connection connection) {
        connection.abort((int) TimeUnit.SECONDS.toMillis(1));
    }
}
