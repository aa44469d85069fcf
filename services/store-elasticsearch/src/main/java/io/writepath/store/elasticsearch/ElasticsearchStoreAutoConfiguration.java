package io.writepath.store.elasticsearch;

import co.elastic.clients.elasticsearch._types.Time;
import io.writepath.post.PostWriter;
import java.time.Duration;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** Elasticsearch as the final store. */
@AutoConfiguration
@EnableConfigurationProperties({ElasticsearchSettings.class, AdmissionSettings.class})
class ElasticsearchStoreAutoConfiguration {

    /** Below the application deadline of 5 s, so that this shows as 503 with a reason. */
    private static final Duration WRITE_WAIT = Duration.ofSeconds(2);

    /** Below the writer's own wait, so that the client hears that copies are missing and not just that it took long. */
    private static final Time COPIES_WAIT = Time.of(time -> time.time("1s"));

    private static final Time BATCH_COPIES_WAIT = Time.of(time -> time.time("10s"));

    private static final Duration NO_INDEX_REMINDER = Duration.ofMinutes(2);

    /** Beside one connection for each request in flight: audits, health, the consumer's bulks. */
    private static final int SPARE_CONNECTIONS = 16;

    @Bean
    Connection elasticsearchConnection(ElasticsearchSettings settings, AdmissionSettings admission) {
        return new Connection(settings, admission.inFlightMax() + SPARE_CONNECTIONS);
    }

    @Bean
    PostIndex elasticsearchPostIndex(Connection connection, ElasticsearchSettings settings) {
        return new PostIndex(connection, settings);
    }

    @Bean
    IndexStarter elasticsearchIndexStarter(PostIndex index) {
        return new IndexStarter(index::ensureOnce, NO_INDEX_REMINDER);
    }

    @Bean
    CommitRecorder elasticsearchCommitRecorder(ElasticsearchSettings settings) {
        return new CommitRecorder(settings.copies());
    }

    @Bean
    ElasticsearchPostBatchWriter elasticsearchPostBatchWriter(
            PostIndex index,
            Connection connection,
            CommitRecorder commits,
            AllocationRetry allocation,
            ElasticsearchSettings settings) {
        Confirmations confirmations = new Confirmations(connection.background(), settings.searchIndex());
        return new ElasticsearchPostBatchWriter(
                index, connection.background(), BATCH_COPIES_WAIT, commits, confirmations, allocation, settings);
    }

    @Bean
    AllocationRetry elasticsearchAllocationRetry(Connection connection) {
        return new AllocationRetry(connection);
    }

    @Bean
    NodeStats elasticsearchNodeStats(Connection connection) {
        return new NodeStats(connection);
    }

    @Bean
    ElasticsearchPostReader elasticsearchPostReader(Connection connection, ElasticsearchSettings settings) {
        return new ElasticsearchPostReader(connection.foregroundBlocking(), settings);
    }

    @Bean
    ElasticsearchStoreInspector elasticsearchStoreInspector(
            Connection connection, PostIndex index, ElasticsearchSettings settings) {
        return new ElasticsearchStoreInspector(connection, index, settings);
    }

    @Bean
    ElasticsearchLoader elasticsearchLoader(Connection connection, PostIndex index, ElasticsearchSettings settings) {
        return new ElasticsearchLoader(connection.background(), index, settings);
    }

    @Bean
    ElasticsearchSizes elasticsearchSizes(
            Connection connection, ElasticsearchStoreInspector inspector, ElasticsearchSettings settings) {
        return new ElasticsearchSizes(connection, inspector, settings.searchIndex());
    }

    /** Where posts go straight into the index. On a queue path the ingress has a writer of its own. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnMissingBean(PostWriter.class)
    static class Ingress {

        @Bean
        DocumentSender elasticsearchDocumentSender(
                Connection connection, ElasticsearchSettings settings, CommitRecorder commits) {
            return switch (settings.writeMode()) {
                case SINGLE -> new SingleSender(connection.foreground(), COPIES_WAIT, commits);
                case BULK ->
                    new BulkSender(connection.foreground(), COPIES_WAIT, commits, Thread::startVirtualThread, settings);
            };
        }

        @Bean
        ElasticsearchPostWriter elasticsearchPostWriter(
                PostIndex index,
                Connection connection,
                DocumentSender sender,
                AllocationRetry allocation,
                ElasticsearchSettings settings) {
            Confirmations confirmations = new Confirmations(connection.foregroundSoon(), settings.searchIndex());
            return new ElasticsearchPostWriter(index, sender, confirmations, allocation, settings, WRITE_WAIT);
        }
    }
}
