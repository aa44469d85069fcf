package io.writepath.store.elasticsearch;

import co.elastic.clients.elasticsearch.indices.TranslogDurability;
import jakarta.validation.constraints.Max;
import jakarta.validation.constraints.Min;
import jakarta.validation.constraints.NotEmpty;
import jakarta.validation.constraints.Pattern;
import java.util.List;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.validation.annotation.Validated;

/**
 * The index, and how it is written to.
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
 * @param lingerMs milliseconds that a document waits for others at most, once several are under way; 0: no wait
 * @param lanes a queue and bulks for each shard, or one for all of them; automatic ids have one, as no shard is known
 * @param bulksInFlight bulk requests under way at most, shared out among the lanes, of which each has one at least
 */
@Validated
@ConfigurationProperties("writepath.elasticsearch")
record ElasticsearchSettings(
        @DefaultValue @NotEmpty(message = "must name at least one " + ADDRESS_FORM)
        List<@Pattern(regexp = ADDRESS, message = "must be " + ADDRESS_FORM) String> uris,

        @DefaultValue("1") @Min(1) @Max(1024) int shards,
        @DefaultValue("0") @Min(0) @Max(10) int replicas,

        @DefaultValue("1s") @Pattern(regexp = "-1|\\d{1,6}(ms|s|m)", message = "must be like 1s, 500ms or -1")
        String refreshInterval,

        @DefaultValue("bulk") WriteMode writeMode,
        @DefaultValue("request") TranslogDurability translogDurability,
        @DefaultValue("own") Ids ids,
        @DefaultValue("words") SearchIndex searchIndex,
        @DefaultValue("10") @Min(0) @Max(500) int lingerMs,
        @DefaultValue("per-shard") Lanes lanes,
        @DefaultValue("2") @Min(1) @Max(64) int bulksInFlight) {

    private static final String ADDRESS = "https?://([\\w.-]+|\\[[\\da-fA-F:]+]):[1-9]\\d{0,4}/?";
    private static final String ADDRESS_FORM = "http://host:port, separated by commas";

    ElasticsearchSettings {
        uris = List.copyOf(uris);
    }

    /** Copies that must have a post before it counts as written: the primary's and every replica's. */
    int copies() {
        return replicas + 1;
    }

    int laneCount() {
        return lanes == Lanes.PER_SHARD && ids == Ids.OWN ? shards : 1;
    }

    enum Lanes {
        PER_SHARD,
        ONE
    }

    enum WriteMode {
        BULK,
        SINGLE
    }

    enum Ids {
        OWN,
        AUTO
    }
}
