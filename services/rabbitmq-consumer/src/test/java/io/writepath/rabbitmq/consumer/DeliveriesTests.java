package io.writepath.rabbitmq.consumer;

import static org.assertj.core.api.Assertions.assertThat;

import com.rabbitmq.client.Channel;
import io.writepath.queue.rabbitmq.PostsPerMessage;
import java.lang.reflect.Proxy;
import org.junit.jupiter.api.Test;

class DeliveriesTests {

    private static final String TAG = "consumer";

    private final PostsPerMessage perMessage = new PostsPerMessage();
    private final Deliveries deliveries = new Deliveries(perMessage);
    private final Channel channel = identityOnly();

    @Test
    void whatIsDeliveredAndNotAcknowledgedIsCounted() {
        deliver(5);
        deliveries.basicAck(channel, 3, true);

        assertThat(deliveries.unacknowledged()).isEqualTo(2);
    }

    @Test
    void everyPostOfAMessageIsCounted() {
        deliveries.basicConsume(channel, TAG, false);
        deliveries.delivered(TAG, 1, 20);
        deliveries.delivered(TAG, 2, 1);
        deliveries.delivered(TAG, 3, 9);
        assertThat(deliveries.unacknowledged()).isEqualTo(30);

        deliveries.basicAck(channel, 2, true);

        assertThat(deliveries.unacknowledged()).isEqualTo(9);
        assertThat(perMessage.estimate(3)).isEqualTo(30);
    }

    @Test
    void acknowledgingEverythingLeavesNothing() {
        deliver(5);
        deliveries.basicAck(channel, 0, true);

        assertThat(deliveries.unacknowledged()).isZero();
    }

    @Test
    void aBatchBehindOneThatWasLeftMustNotBeAcknowledged() {
        deliver(4);

        assertThat(deliveries.isNext(channel, 3, 4, 2)).isFalse();
        assertThat(deliveries.isNext(channel, 1, 2, 2)).isTrue();
        deliveries.basicAck(channel, 2, true);
        assertThat(deliveries.isNext(channel, 3, 4, 2)).isTrue();
    }

    @Test
    void aBatchWithAHoleMustNotBeAcknowledged() {
        deliver(3);

        assertThat(deliveries.isNext(channel, 1, 3, 2)).isFalse();
    }

    @Test
    void tagsOfAnotherChannelMeanNothing() {
        deliver(1);

        assertThat(deliveries.isNext(identityOnly(), 1, 1, 1)).isFalse();
    }

    private void deliver(int messages) {
        deliveries.basicConsume(channel, TAG, false);
        for (long tag = 1; tag <= messages; tag++) {
            deliveries.delivered(TAG, tag, 1);
        }
    }

    /** A channel as the client's metrics see it: something to tell from others. */
    private static Channel identityOnly() {
        return (Channel) Proxy.newProxyInstance(
                Channel.class.getClassLoader(),
                new Class<?>[] {Channel.class},
                (self, method, arguments) -> switch (method.getName()) {
                    case "hashCode" -> System.identityHashCode(self);
                    case "equals" -> self == arguments[0];
                    default -> null;
                });
    }
}
