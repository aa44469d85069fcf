package io.writepath.rabbitmq.consumer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.rabbitmq.client.Channel;
import io.writepath.queue.rabbitmq.PostsPerMessage;
import java.lang.reflect.Proxy;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.springframework.amqp.rabbit.connection.CachingConnectionFactory;
import org.springframework.amqp.rabbit.listener.SimpleMessageListenerContainer;

class QueueConsumerTests {

    private final Deliveries deliveries = new Deliveries(new PostsPerMessage());
    private final Container container = new Container();
    private final QueueConsumer consumer = new QueueConsumer(container, listener(), deliveries);

    @Test
    void aResetAfterWhichNothingStartsLeavesTheNextAttemptToOthers() throws Exception {
        consumer.start();
        deliveries.basicConsume(obeying(), "consumer", false);
        container.broken = true;
        assertThatThrownBy(consumer::reset).isInstanceOf(IllegalStateException.class);

        container.broken = false;
        CompletableFuture.runAsync(consumer::consumeAnew).get(10, TimeUnit.SECONDS);

        assertThat(container.starts).isEqualTo(2);
    }

    /** Of which nothing is delivered here. */
    @SuppressWarnings("NullAway")
    private BatchListener listener() {
        return new BatchListener(null, deliveries, new ConsumerCounters(), () -> true);
    }

    private static Channel obeying() {
        return (Channel) Proxy.newProxyInstance(
                Channel.class.getClassLoader(),
                new Class<?>[] {Channel.class},
                (self, method, given) -> switch (method.getName()) {
                    case "hashCode" -> System.identityHashCode(self);
                    case "equals" -> self == given[0];
                    default -> null;
                });
    }

    /** Starts, unless it is broken. */
    private static final class Container extends SimpleMessageListenerContainer {

        private boolean broken;
        private int starts;

        Container() {
            super(new CachingConnectionFactory("127.0.0.1", 1));
        }

        @Override
        public void start() {
            if (broken) {
                throw new IllegalStateException("no broker");
            }
            starts++;
        }

        @Override
        public void stop() {}
    }
}
