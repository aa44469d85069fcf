package io.writepath.queue.rabbitmq;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.LongAdder;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.amqp.AmqpException;

/**
 * Declares the topology again when a message came back without a route: somebody deleted a queue or a binding under
 * load, and no connection breaks for that. In the background and at most once a second, as every message comes back
 * meanwhile. Not at once: the broker must first have told the consumers that their queue is gone (RabbitMQ 3.10.8 moves
 * them silently to a queue that is already there again, which then delivers them nothing), and they declare it, too.
 */
final class TopologyRepair {

    private static final Logger log = LoggerFactory.getLogger(TopologyRepair.class);
    private static final Duration INTERVAL = Duration.ofSeconds(1);
    private static final Duration GRACE = Duration.ofMillis(500);

    private final String name;
    private final Runnable declare;
    private final LongAdder repairs;
    private final AtomicBoolean underWay = new AtomicBoolean();
    private volatile long notBeforeNanos = System.nanoTime();

    TopologyRepair(String name, Runnable declare, LongAdder repairs) {
        this.name = name;
        this.declare = declare;
        this.repairs = repairs;
    }

    /** Never waits. */
    void request() {
        if (System.nanoTime() - notBeforeNanos >= 0 && underWay.compareAndSet(false, true)) {
            Thread.ofPlatform().daemon().name(name + "-repair").start(this::repair);
        }
    }

    private void repair() {
        try {
            Thread.sleep(GRACE);
            declare.run();
            repairs.increment();
            log.warn("{} had messages returned and declared the topology again", name);
        } catch (AmqpException failure) {
            log.warn("{} had messages returned and cannot declare the topology: {}", name, failure.toString());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } finally {
            notBeforeNanos = System.nanoTime() + INTERVAL.toNanos();
            underWay.set(false);
        }
    }
}
