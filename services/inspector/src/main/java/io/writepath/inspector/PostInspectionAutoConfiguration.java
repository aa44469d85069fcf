package io.writepath.inspector;

import io.writepath.post.CommitInspector;
import io.writepath.post.InFlight;
import io.writepath.post.PostLoader;
import io.writepath.post.QueueInspector;
import io.writepath.post.StoreInspector;
import io.writepath.post.StoreSizes;
import io.writepath.post.StoreUnavailableException;
import java.util.Optional;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.context.annotation.Bean;

/** What the inspector tells of every application that stores posts; one that stores none excludes it. */
@AutoConfiguration
public class PostInspectionAutoConfiguration {

    @Bean
    Inspection inspection(
            StoreInspector store,
            PostLoader loader,
            StoreSizes sizes,
            ObjectProvider<QueueInspector> queue,
            ObjectProvider<CommitInspector> commits,
            ObjectProvider<InFlight> inFlight) {
        return new Inspection(
                store,
                loader,
                sizes,
                Optional.ofNullable(queue.getIfAvailable()),
                commits.orderedStream().toList(),
                inFlight.getIfAvailable(() -> () -> 0));
    }

    /** Asks over connections of its own: one that waited for a free one would fail whenever the pool is used up. */
    @Bean
    HealthIndicator storeHealthIndicator(Inspection inspection) {
        return () -> {
            try {
                inspection.assertReady();
                return Health.up().build();
            } catch (StoreUnavailableException unavailable) {
                return Health.down()
                        .withDetail("reason", String.valueOf(unavailable.getMessage()))
                        .build();
            }
        };
    }
}
