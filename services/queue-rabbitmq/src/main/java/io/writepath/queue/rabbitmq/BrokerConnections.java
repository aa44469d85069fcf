package io.writepath.queue.rabbitmq;

import com.rabbitmq.client.AMQP;
import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.ShutdownSignalException;
import java.io.IOException;
import java.time.Duration;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.springframework.amqp.rabbit.connection.ConnectionFactory;

/**
 * Takes the client library's own connection out of one of Spring's factories. The factory's proxies replace a broken
 * channel quietly; whoever waits for confirms or answers must know that it broke, and what was lost with it. A
 * connection that was aborted or lost is a new one the next time.
 */
final class BrokerConnections {

    static final Duration CLOSE_TIMEOUT = Duration.ofSeconds(1);

    private BrokerConnections() {}

    static Connection open(ConnectionFactory factory) {
        return Objects.requireNonNull(factory.createConnection().getDelegate());
    }

    static Channel channelOf(Connection connection) throws IOException {
        return connection.openChannel().orElseThrow(() -> new IOException("no channel left on the connection"));
    }

    /** Closes without waiting for an answer that a dead broker never gives. */
    static void abort(Connection connection) {
        connection.abort((int) CLOSE_TIMEOUT.toMillis());
    }

    /** The broker's reason for closing the channel, somewhere among the causes; null when it is no refusal. */
    static AMQP.Channel.@Nullable Close refusal(Throwable failure) {
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            if (cause instanceof ShutdownSignalException signal
                    && signal.getReason() instanceof AMQP.Channel.Close close) {
                return close;
            }
        }
        return null;
    }
}
