package io.writepath.store.elasticsearch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import co.elastic.clients.elasticsearch.indices.TranslogDurability;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.core.env.SystemEnvironmentPropertySource;

@ExtendWith(OutputCaptureExtension.class)
class ElasticsearchSettingsTests {

    @EnableConfigurationProperties(ElasticsearchSettings.class)
    static class Configuration {}

    @ParameterizedTest
    @CsvSource({
        "ELASTICSEARCH_URIS, localhost",
        "ELASTICSEARCH_URIS, ''",
        "ELASTICSEARCH_SHARDS, 0",
        "ELASTICSEARCH_SHARDS, many",
        "ELASTICSEARCH_REPLICAS, -1",
        "ELASTICSEARCH_REFRESH_INTERVAL, soon",
        "ELASTICSEARCH_WRITE_MODE, both",
        "ELASTICSEARCH_TRANSLOG_DURABILITY, never",
        "ELASTICSEARCH_IDS, any",
        "ELASTICSEARCH_SEARCH_INDEX, letters",
        "ELASTICSEARCH_BULKS_IN_FLIGHT, 0"
    })
    void aBadValueEndsTheStartNamingItsVariable(String variable, String value, CapturedOutput output) {
        Map<String, Object> variables = new HashMap<>(Map.of("ELASTICSEARCH_URIS", "http://127.0.0.1:9200"));
        variables.put(variable, value);

        assertThatThrownBy(() -> application(variables).run()).isNotNull();
        assertThat(output).contains("APPLICATION FAILED TO START").contains(variable);
    }

    @Test
    void theEnvironmentOfTheTopologyIsUnderstood() {
        var application = application(Map.of(
                "ELASTICSEARCH_URIS", "http://one:9200,http://two:9200",
                "ELASTICSEARCH_SHARDS", "8",
                "ELASTICSEARCH_REPLICAS", "1",
                "ELASTICSEARCH_REFRESH_INTERVAL", "500ms",
                "ELASTICSEARCH_WRITE_MODE", "single",
                "ELASTICSEARCH_TRANSLOG_DURABILITY", "async",
                "ELASTICSEARCH_IDS", "auto",
                "ELASTICSEARCH_SEARCH_INDEX", "bigrams"));
        try (var context = application.run()) {
            ElasticsearchSettings settings = context.getBean(ElasticsearchSettings.class);
            assertThat(settings.uris()).containsExactly("http://one:9200", "http://two:9200");
            assertThat(settings.shards()).isEqualTo(8);
            assertThat(settings.copies()).isEqualTo(2);
            assertThat(settings.refreshInterval()).isEqualTo("500ms");
            assertThat(settings.writeMode()).isEqualTo(ElasticsearchSettings.WriteMode.SINGLE);
            assertThat(settings.translogDurability()).isEqualTo(TranslogDurability.Async);
            assertThat(settings.ids()).isEqualTo(ElasticsearchSettings.Ids.AUTO);
            assertThat(settings.searchIndex()).isEqualTo(SearchIndex.BIGRAMS);
        }
    }

    private static SpringApplicationBuilder application(Map<String, Object> variables) {
        return new SpringApplicationBuilder(Configuration.class)
                .web(WebApplicationType.NONE)
                .initializers(context -> context.getEnvironment()
                        .getPropertySources()
                        .addFirst(new SystemEnvironmentPropertySource("test-systemEnvironment", variables)));
    }
}
