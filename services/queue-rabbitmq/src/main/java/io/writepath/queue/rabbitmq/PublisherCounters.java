package io.writepath.queue.rabbitmq;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.binder.MeterBinder;
import java.util.Map;
import java.util.concurrent.atomic.LongAdder;

/** What happened to posts since the application started, over all connections. */
final class PublisherCounters implements MeterBinder {

    final LongAdder confirmed = new LongAdder();
    final LongAdder returned = new LongAdder();
    final LongAdder nacked = new LongAdder();
    final LongAdder refused = new LongAdder();
    final LongAdder timedOut = new LongAdder();
    final LongAdder lost = new LongAdder();
    final LongAdder connections = new LongAdder();
    final LongAdder repairs = new LongAdder();
    private final LongAdder messages = new LongAdder();
    private final LongAdder posts = new LongAdder();
    private final PostsPerMessage perMessage;

    PublisherCounters(PostsPerMessage perMessage) {
        this.perMessage = perMessage;
    }

    /** A message with so many posts was written to the socket. */
    void sent(int postsInIt) {
        messages.increment();
        posts.add(postsInIt);
        perMessage.add(postsInIt);
    }

    @Override
    public void bindTo(MeterRegistry registry) {
        Map.of(
                        "confirmed", confirmed,
                        "returned", returned,
                        "nacked", nacked,
                        "publish.refused", refused,
                        "confirm.timeouts", timedOut,
                        "lost.confirms", lost,
                        "publisher.connections", connections,
                        "topology.repairs", repairs,
                        "messages.sent", messages,
                        "posts.sent", posts)
                .forEach((name, count) -> FunctionCounter.builder("writepath." + name, count, LongAdder::sum)
                        .register(registry));
    }
}
