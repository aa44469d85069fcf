package io.writepath.inspector;

import io.writepath.post.CommitInspector;
import io.writepath.post.Durability;
import io.writepath.post.InFlight;
import io.writepath.post.PostLoader;
import io.writepath.post.QueueInspector;
import io.writepath.post.StoreInspector;
import io.writepath.post.StoreSizes;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * What an application of posts can tell about itself and what stands behind it, put together from the ports it happens
 * to have.
 *
 * @param queue empty where no queue lies between ingress and store
 * @param inFlight requests being served now
 */
record Inspection(
        StoreInspector store,
        PostLoader loader,
        StoreSizes sizes,
        Optional<QueueInspector> queue,
        List<CommitInspector> commits,
        InFlight inFlight) {

    void assertReady() {
        store.assertReady();
        queue.ifPresent(QueueInspector::assertReady);
    }

    /** Queues first: what a purge leaves in flight would otherwise land in the emptied store. */
    void reset() {
        queue.ifPresent(QueueInspector::reset);
        store.reset();
        commits.forEach(CommitInspector::reset);
    }

    Map<String, Long> pending() {
        var pending = queue.map(QueueInspector::pending).orElse(new QueueInspector.Pending(0, 0, 0));
        return Map.of(
                "in_flight", (long) inFlight.inFlight(),
                "ready", pending.ready(),
                "unacknowledged", pending.unacknowledged(),
                "dead", pending.dead());
    }

    /** On a queue path a 201 promises what the broker holds; the store's settings go along under {@code store.}. */
    Durability durability() {
        Durability ofStore = store.durability();
        return queue.map(QueueInspector::durability)
                .map(ofQueue -> new Durability(ofQueue.level(), both(ofQueue, ofStore)))
                .orElse(ofStore);
    }

    private static Map<String, String> both(Durability ofQueue, Durability ofStore) {
        Map<String, String> settings = new TreeMap<>(ofQueue.settings());
        ofStore.settings().forEach((name, value) -> settings.put("store." + name, value));
        return settings;
    }
}
