package io.writepath.web.inspector;

import io.writepath.post.CommitInspector;
import io.writepath.post.Gauges;
import io.writepath.post.PostLoader;
import io.writepath.post.QueueInspector;
import io.writepath.post.StoreInspector;
import io.writepath.post.StoreSizes;
import io.writepath.post.VersionSource;
import io.writepath.web.InFlightLimit;
import io.writepath.web.WebAutoConfiguration;
import java.util.Optional;
import java.util.function.IntSupplier;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;

/** The inspector for every application, web or not. */
@AutoConfiguration(after = WebAutoConfiguration.class)
@EnableConfigurationProperties(InspectorSettings.class)
public class InspectorAutoConfiguration {

    @Bean
    Inspection inspection(
            StoreInspector store,
            PostLoader loader,
            StoreSizes sizes,
            ObjectProvider<QueueInspector> queue,
            ObjectProvider<CommitInspector> commits,
            ObjectProvider<Gauges> gauges,
            ObjectProvider<VersionSource> versions,
            ObjectProvider<InFlightLimit> limit) {
        InFlightLimit ofWeb = limit.getIfAvailable();
        IntSupplier inFlight = ofWeb == null ? () -> 0 : ofWeb::inFlight;
        return new Inspection(
                store,
                loader,
                sizes,
                Optional.ofNullable(queue.getIfAvailable()),
                commits.orderedStream().toList(),
                gauges.orderedStream().toList(),
                versions.orderedStream().toList(),
                inFlight);
    }

    @Bean
    JvmGauges jvmGauges() {
        return new JvmGauges();
    }

    @Bean
    InspectorServer inspectorServer(Inspection inspection, InspectorSettings settings) {
        return new InspectorServer(settings, inspection);
    }
}
