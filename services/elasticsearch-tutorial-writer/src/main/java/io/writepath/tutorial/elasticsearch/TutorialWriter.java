package io.writepath.tutorial.elasticsearch;

import co.elastic.clients.elasticsearch.ElasticsearchClient;
import co.elastic.clients.elasticsearch._types.Refresh;
import co.elastic.clients.json.jackson.Jackson3JsonpMapper;
import co.elastic.clients.transport.rest_client.RestClientTransport;
import io.writepath.post.PostWriter;
import io.writepath.store.elasticsearch.CommitRecorder;
import org.apache.http.HttpHost;
import org.elasticsearch.client.RestClient;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;

/** Writes straight to Elasticsearch under the defaults of Spring Boot and of the client; index and reads are ours. */
@SpringBootApplication(proxyBeanMethods = false)
@EnableConfigurationProperties(TutorialSettings.class)
public class TutorialWriter {

    public static void main(String[] arguments) {
        SpringApplication.run(TutorialWriter.class, arguments);
    }

    /** As the client's guide makes it: its own pool of 10 connections a node, and its own time-outs. */
    @Bean
    ElasticsearchClient elasticsearchClient(TutorialSettings settings) {
        HttpHost[] hosts = settings.uris().stream().map(HttpHost::create).toArray(HttpHost[]::new);
        return new ElasticsearchClient(
                new RestClientTransport(RestClient.builder(hosts).build(), new Jackson3JsonpMapper()));
    }

    @Bean
    PostWriter postWriter(ElasticsearchClient client, TutorialSettings settings, CommitRecorder commits) {
        return new DocumentWriter(client, settings.refreshEachWrite() ? Refresh.True : Refresh.False, commits);
    }
}
