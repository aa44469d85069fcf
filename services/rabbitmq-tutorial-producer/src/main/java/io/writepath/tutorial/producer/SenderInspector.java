package io.writepath.tutorial.producer;

import io.writepath.post.Durability;
import io.writepath.post.Durability.Level;
import io.writepath.post.QueueInspector;
import io.writepath.queue.rabbitmq.QueueReadBack;
import java.util.Map;
import java.util.TreeMap;
import org.springframework.amqp.core.Message;
import org.springframework.amqp.core.MessageProperties;
import org.springframework.amqp.rabbit.connection.CachingConnectionFactory;
import org.springframework.amqp.rabbit.core.RabbitTemplate;

/** The queue as an ingress sees it that waits for no word of the broker, told from the template it publishes with. */
final class SenderInspector implements QueueInspector {

    private static final String CONFIRMS = "publish.confirms";

    private final CachingConnectionFactory connections;
    private final RabbitTemplate template;
    private final QueueReadBack readBack;

    SenderInspector(CachingConnectionFactory connections, RabbitTemplate template, QueueReadBack readBack) {
        this.connections = connections;
        this.template = template;
        this.readBack = readBack;
    }

    @Override
    public Pending pending() {
        return new Pending(readBack.ready(), 0, readBack.dead());
    }

    @Override
    public void reset() {
        readBack.purge();
    }

    /** Without confirms level C, whatever the queue promises for what it has. */
    @Override
    public Durability durability() {
        Durability queue = readBack.durability();
        boolean confirms = connections.isPublisherConfirms() || connections.isSimplePublisherConfirms();
        MessageProperties fresh = new MessageProperties();
        Map<String, String> settings = new TreeMap<>(queue.settings());
        settings.put(CONFIRMS, Boolean.toString(confirms));
        settings.put("publish.mandatory", String.valueOf(template.isMandatoryFor(new Message(new byte[0], fresh))));
        settings.put("publish.delivery_mode", String.valueOf(fresh.getDeliveryMode()));
        if (confirms) {
            return new Durability(queue.level(), settings);
        }
        settings.put(Durability.LOWERED_BY, CONFIRMS);
        return new Durability(Level.C, settings);
    }
}
