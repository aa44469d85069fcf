package io.writepath.queue.rabbitmq;

import java.util.Map;
import java.util.concurrent.atomic.LongAdder;

/** What happened to messages since the application started, over all connections. */
final class PublisherCounters {

    final LongAdder confirmed = new LongAdder();
    final LongAdder returned = new LongAdder();
    final LongAdder nacked = new LongAdder();
    final LongAdder refused = new LongAdder();
    final LongAdder timedOut = new LongAdder();
    final LongAdder lost = new LongAdder();
    final LongAdder connections = new LongAdder();
    final LongAdder repairs = new LongAdder();

    Map<String, Double> read() {
        return Map.of(
                "confirmed", confirmed.doubleValue(),
                "returned", returned.doubleValue(),
                "nacked", nacked.doubleValue(),
                "publish_refused", refused.doubleValue(),
                "confirm_timeouts", timedOut.doubleValue(),
                "lost_confirms", lost.doubleValue(),
                "publisher_connections", connections.doubleValue(),
                "topology_repairs", repairs.doubleValue());
    }
}
