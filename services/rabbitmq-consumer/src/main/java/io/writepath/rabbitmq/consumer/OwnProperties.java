package io.writepath.rabbitmq.consumer;

import com.rabbitmq.client.AMQP.BasicProperties;
import com.rabbitmq.client.Envelope;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.springframework.amqp.core.MessageDeliveryMode;
import org.springframework.amqp.core.MessageProperties;
import org.springframework.amqp.rabbit.support.DefaultMessagePropertiesConverter;

/**
 * Reads only what a post needs. Headers are a stranger's: Spring gives some of them a meaning (a batch to take apart, a
 * delay to parse), and one that it cannot read would fail the messages around it, over and over.
 */
final class OwnProperties extends DefaultMessagePropertiesConverter {

    private static final int PERSISTENT = 2;

    @Override
    public MessageProperties toMessageProperties(BasicProperties source, @Nullable Envelope envelope, String charset) {
        Envelope delivered = Objects.requireNonNull(envelope);
        MessageProperties properties = new MessageProperties();
        properties.setDeliveryTag(delivered.getDeliveryTag());
        properties.setRedelivered(delivered.isRedeliver());
        properties.setType(source.getType());
        properties.setMessageId(source.getMessageId());
        Integer mode = source.getDeliveryMode();
        properties.setReceivedDeliveryMode(
                mode != null && mode == PERSISTENT
                        ? MessageDeliveryMode.PERSISTENT
                        : MessageDeliveryMode.NON_PERSISTENT);
        return properties;
    }
}
