package io.writepath.queue.rabbitmq;

import java.util.Map;

/**
 * What a publisher asks of the broker; all three together make a confirm a promise.
 *
 * @param confirms waits for the broker's confirm; without, a message counts as soon as the socket has it
 * @param mandatory has unroutable messages returned; without, the broker confirms and drops them
 * @param persistent has messages kept on disk
 */
public record PublishMode(boolean confirms, boolean mandatory, boolean persistent) {

    public static final PublishMode SAFE = new PublishMode(true, true, true);

    private static final int PERSISTENT = 2;
    private static final int TRANSIENT = 1;

    int deliveryMode() {
        return persistent ? PERSISTENT : TRANSIENT;
    }

    Map<String, String> settings() {
        return Map.of(
                "publish.confirms", Boolean.toString(confirms),
                "publish.mandatory", Boolean.toString(mandatory),
                "publish.delivery_mode", Integer.toString(deliveryMode()));
    }
}
