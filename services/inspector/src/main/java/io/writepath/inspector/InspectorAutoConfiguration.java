package io.writepath.inspector;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.binder.MeterBinder;
import io.writepath.post.CommitInspector;
import io.writepath.post.InFlight;
import io.writepath.post.PostLoader;
import io.writepath.post.QueueInspector;
import io.writepath.post.SampledFigures;
import io.writepath.post.StoreInspector;
import io.writepath.post.StoreSizes;
import io.writepath.post.StoreUnavailableException;
import io.writepath.post.VersionSource;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.actuate.info.InfoContributor;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.context.annotation.Bean;

/** What Actuator and the inspector tell of every application. */
@AutoConfiguration
@EnableConfigurationProperties(InspectorSettings.class)
public class InspectorAutoConfiguration {

    private static final Duration SAMPLING = Duration.ofSeconds(1);

    @Bean
    Inspection inspection(
            StoreInspector store,
            PostLoader loader,
            StoreSizes sizes,
            ObjectProvider<QueueInspector> queue,
            ObjectProvider<CommitInspector> commits,
            ObjectProvider<VersionSource> versions,
            ObjectProvider<InFlight> inFlight) {
        return new Inspection(
                store,
                loader,
                sizes,
                Optional.ofNullable(queue.getIfAvailable()),
                commits.orderedStream().toList(),
                versions.orderedStream().toList(),
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

    /** Left out where a store or broker does not say what it is. */
    @Bean
    InfoContributor versions(Inspection inspection) {
        return info -> {
            try {
                info.withDetail("versions", inspection.versions());
            } catch (StoreUnavailableException unavailable) {
                info.withDetail("unavailable", String.valueOf(unavailable.getMessage()));
            }
        };
    }

    @Bean
    FigureSamplers figureSamplers(ObjectProvider<SampledFigures> asked) {
        return new FigureSamplers(asked.orderedStream()
                .map(figures -> new FigureSampler(figures, SAMPLING))
                .toList());
    }

    /** One for each process that is asked, so that none waits for another. */
    record FigureSamplers(List<FigureSampler> each) implements MeterBinder, AutoCloseable {

        @Override
        public void bindTo(MeterRegistry registry) {
            each.forEach(sampler -> sampler.bindTo(registry));
        }

        @Override
        public void close() {
            each.forEach(FigureSampler::close);
        }
    }
}
