package io.writepath.store.elasticsearch;

import co.elastic.clients.elasticsearch.indices.TranslogDurability;
import java.net.URI;
import java.util.List;
import java.util.regex.Pattern;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * What the environment says about the index; each component is the variable {@code ELASTICSEARCH_<NAME>}.
 *
 * @param uris {@code http://host:port}, separated by commas
 * @param shards primary shards of the index
 * @param replicas copies beside the primary; a write counts only once every one of them has it
 * @param refreshInterval how long a written post may stay unsearchable: {@code 1s}, {@code 500ms}, {@code -1} for
 *     never. Always set, because Elasticsearch's own default stops refreshing an index that nobody searches
 * @param writeMode micro-batched {@code _bulk} or one request a document
 * @param translogDurability {@code request}: flushed before each answer; {@code async}, every 5 s, is a naive twin's
 * @param ids {@code own}: the post's id is the document's, so that a write sent again changes nothing; {@code auto}, a
 *     naive twin's, leaves the id to Elasticsearch and sends a failed write again
 * @param searchIndex what of a text is in the index; {@code words} costs a write nothing more than the text itself
 * @param bulksInFlight bulk requests under way at most; the documents that arrive meanwhile make up the next one
 */
@ConfigurationProperties("elasticsearch")
record ElasticsearchSettings(
        @DefaultValue List<String> uris,
        @DefaultValue("1") int shards,
        @DefaultValue("0") int replicas,
        @DefaultValue("1s") String refreshInterval,
        @DefaultValue("bulk") WriteMode writeMode,
        @DefaultValue("request") TranslogDurability translogDurability,
        @DefaultValue("own") Ids ids,
        @DefaultValue("words") SearchIndex searchIndex,
        @DefaultValue("2") int bulksInFlight) {

    private static final int SHARDS_MAX = 1024;
    private static final int REPLICAS_MAX = 10;
    private static final int BULKS_IN_FLIGHT_MAX = 64;
    private static final Pattern INTERVAL = Pattern.compile("-1|\\d{1,6}(ms|s|m)");

    ElasticsearchSettings {
        check(!uris.isEmpty(), "URIS", "name at least one http://host:port", uris);
        uris = List.copyOf(uris);
        uris.forEach(uri -> check(isAddress(uri), "URIS", "be http://host:port, separated by commas", uri));
        check(shards >= 1 && shards <= SHARDS_MAX, "SHARDS", "be 1 to " + SHARDS_MAX, shards);
        check(replicas >= 0 && replicas <= REPLICAS_MAX, "REPLICAS", "be 0 to " + REPLICAS_MAX, replicas);
        check(
                INTERVAL.matcher(refreshInterval).matches(),
                "REFRESH_INTERVAL",
                "be like 1s, 500ms or -1",
                refreshInterval);
        check(
                bulksInFlight >= 1 && bulksInFlight <= BULKS_IN_FLIGHT_MAX,
                "BULKS_IN_FLIGHT",
                "be 1 to " + BULKS_IN_FLIGHT_MAX,
                bulksInFlight);
    }

    /** Copies that must have a post before it counts as written: the primary's and every replica's. */
    int copies() {
        return replicas + 1;
    }

    enum WriteMode {
        BULK,
        SINGLE
    }

    enum Ids {
        OWN,
        AUTO
    }

    private static boolean isAddress(String uri) {
        try {
            URI address = URI.create(uri);
            return ("http".equals(address.getScheme()) || "https".equals(address.getScheme()))
                    && address.getHost() != null
                    && address.getPort() > 0;
        } catch (IllegalArgumentException malformed) {
            return false;
        }
    }

    private static void check(boolean valid, String name, String rule, Object value) {
        if (!valid) {
            throw new IllegalArgumentException("ELASTICSEARCH_%s must %s; it is '%s'".formatted(name, rule, value));
        }
    }
}
