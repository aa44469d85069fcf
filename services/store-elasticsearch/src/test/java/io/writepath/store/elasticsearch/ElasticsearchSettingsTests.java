package io.writepath.store.elasticsearch;

import static io.writepath.testsupport.BoundSettings.assertRefused;
import static org.assertj.core.api.Assertions.assertThat;

import co.elastic.clients.elasticsearch.indices.TranslogDurability;
import io.writepath.testsupport.BoundSettings;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.core.io.ClassPathResource;

@ExtendWith(OutputCaptureExtension.class)
class ElasticsearchSettingsTests {

    @EnableConfigurationProperties(ElasticsearchSettings.class)
    static class Configuration {}

    @ParameterizedTest
    @CsvSource({
        "WRITEPATH_ELASTICSEARCH_URIS, ''",
        "WRITEPATH_ELASTICSEARCH_SHARDS, 0",
        "WRITEPATH_ELASTICSEARCH_SHARDS, many",
        "WRITEPATH_ELASTICSEARCH_REPLICAS, -1",
        "WRITEPATH_ELASTICSEARCH_REFRESH_INTERVAL, soon",
        "WRITEPATH_ELASTICSEARCH_WRITE_MODE, both",
        "WRITEPATH_ELASTICSEARCH_TRANSLOG_DURABILITY, never",
        "WRITEPATH_ELASTICSEARCH_IDS, any",
        "WRITEPATH_ELASTICSEARCH_SEARCH_INDEX, letters",
        "WRITEPATH_ELASTICSEARCH_LINGER_MS, 501",
        "WRITEPATH_ELASTICSEARCH_LANES, two",
        "WRITEPATH_ELASTICSEARCH_BULKS_IN_FLIGHT, 0"
    })
    void aBadValueEndsTheStartNamingItsVariable(String variable, String value, CapturedOutput output) {
        Map<String, Object> variables = new HashMap<>(Map.of("WRITEPATH_ELASTICSEARCH_URIS", "http://127.0.0.1:9200"));
        variables.put(variable, value);

        assertRefused(Configuration.class, variables, output, "Origin: \"" + variable + '"');
    }

    @Test
    void aValueOutOfRangeIsNamedWithItsPropertyAndTheRule(CapturedOutput output) {
        assertRefused(
                Configuration.class,
                Map.of(
                        "WRITEPATH_ELASTICSEARCH_URIS", "http://127.0.0.1:9200",
                        "WRITEPATH_ELASTICSEARCH_SHARDS", "0"),
                output,
                "Property: writepath.elasticsearch.shards",
                "Value: \"0\"",
                "Reason: must be greater than or equal to 1");
    }

    @Test
    void anAddressWithoutAPortIsNamedWithItsPlaceInTheList(CapturedOutput output) {
        assertRefused(
                Configuration.class,
                Map.of("WRITEPATH_ELASTICSEARCH_URIS", "http://one:9200,http://two"),
                output,
                "Property: writepath.elasticsearch.uris[1]",
                "Value: \"http://two\"",
                "Reason: must be http://host:port");
    }

    @Test
    void theMetadataDescribesEachSetting() throws IOException {
        assertThat(new ClassPathResource("META-INF/spring-configuration-metadata.json")
                        .getContentAsString(StandardCharsets.UTF_8))
                .contains("writepath.elasticsearch.shards", "primary shards of the index");
    }

    @Test
    void theEnvironmentOfTheTopologyIsUnderstood() {
        Map<String, Object> variables = Map.of(
                "WRITEPATH_ELASTICSEARCH_URIS", "http://one:9200,http://two:9200",
                "WRITEPATH_ELASTICSEARCH_SHARDS", "8",
                "WRITEPATH_ELASTICSEARCH_REPLICAS", "1",
                "WRITEPATH_ELASTICSEARCH_REFRESH_INTERVAL", "500ms",
                "WRITEPATH_ELASTICSEARCH_WRITE_MODE", "single",
                "WRITEPATH_ELASTICSEARCH_TRANSLOG_DURABILITY", "async",
                "WRITEPATH_ELASTICSEARCH_IDS", "auto",
                "WRITEPATH_ELASTICSEARCH_SEARCH_INDEX", "bigrams",
                "WRITEPATH_ELASTICSEARCH_LINGER_MS", "20");
        try (var context = BoundSettings.start(Configuration.class, variables)) {
            ElasticsearchSettings settings = context.getBean(ElasticsearchSettings.class);
            assertThat(settings.uris()).containsExactly("http://one:9200", "http://two:9200");
            assertThat(settings.shards()).isEqualTo(8);
            assertThat(settings.copies()).isEqualTo(2);
            assertThat(settings.refreshInterval()).isEqualTo("500ms");
            assertThat(settings.writeMode()).isEqualTo(ElasticsearchSettings.WriteMode.SINGLE);
            assertThat(settings.translogDurability()).isEqualTo(TranslogDurability.Async);
            assertThat(settings.ids()).isEqualTo(ElasticsearchSettings.Ids.AUTO);
            assertThat(settings.searchIndex()).isEqualTo(SearchIndex.BIGRAMS);
            assertThat(settings.lingerMs()).isEqualTo(20);
        }
    }

    @Test
    void eachShardHasALaneUnlessThereIsToBeOneOrNoShardIsKnown() {
        assertThat(laneCount("LANES", "per-shard")).isEqualTo(8);
        assertThat(laneCount("LANES", "one")).isEqualTo(1);
        assertThat(laneCount("IDS", "auto")).isEqualTo(1);
    }

    private static int laneCount(String setting, String value) {
        Map<String, Object> variables = Map.of(
                "WRITEPATH_ELASTICSEARCH_URIS",
                "http://one:9200",
                "WRITEPATH_ELASTICSEARCH_SHARDS",
                "8",
                "WRITEPATH_ELASTICSEARCH_" + setting,
                value);
        try (var context = BoundSettings.start(Configuration.class, variables)) {
            return context.getBean(ElasticsearchSettings.class).laneCount();
        }
    }
}
