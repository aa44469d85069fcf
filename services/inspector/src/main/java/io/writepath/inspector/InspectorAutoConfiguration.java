package io.writepath.inspector;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.binder.MeterBinder;
import io.writepath.post.SampledFigures;
import io.writepath.post.StoreUnavailableException;
import io.writepath.post.VersionSource;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.SpringBootVersion;
import org.springframework.boot.actuate.info.InfoContributor;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;

/** What Actuator tells of every application. */
@AutoConfiguration
@EnableConfigurationProperties(InspectorSettings.class)
public class InspectorAutoConfiguration {

    private static final Duration SAMPLING = Duration.ofSeconds(1);

    /** Left out where a store or broker does not say what it is. */
    @Bean
    InfoContributor versions(ObjectProvider<VersionSource> sources) {
        return info -> {
            try {
                Map<String, String> versions = new TreeMap<>();
                versions.put("java", Runtime.version().toString());
                versions.put("spring-boot", SpringBootVersion.getVersion());
                sources.orderedStream().forEach(source -> versions.putAll(source.versions()));
                info.withDetail("versions", versions);
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
