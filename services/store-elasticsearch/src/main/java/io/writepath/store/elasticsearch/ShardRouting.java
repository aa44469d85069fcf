package io.writepath.store.elasticsearch;

import java.nio.charset.StandardCharsets;
import java.util.UUID;
import org.apache.commons.codec.digest.MurmurHash3;

/**
 * The shard that a document goes to, computed as Elasticsearch does ({@code IndexRouting}, {@code Murmur3HashFunction}
 * and {@code MetadataCreateIndexService.calculateNumRoutingShards} of 8.19). Only the grouping of documents depends on
 * it: Elasticsearch takes a document to its shard whatever bulk it comes in.
 */
final class ShardRouting {

    /** An index can be split until it has so many shards, or at least once. */
    private static final int LOG2_OF_SHARDS_MAX = 10;

    private final int shards;
    private final int routingShards;

    /** For an index that was created with so many primary shards and no {@code number_of_routing_shards}. */
    ShardRouting(int shards) {
        int log2Rounded = Integer.SIZE - Integer.numberOfLeadingZeros(shards - 1);
        this.shards = shards;
        this.routingShards = shards << Math.max(1, LOG2_OF_SHARDS_MAX - log2Rounded);
    }

    /** From 0, of the document with this {@code _id}. */
    int shardOf(UUID id) {
        byte[] hashed = id.toString().getBytes(StandardCharsets.UTF_16LE);
        int hash = MurmurHash3.hash32x86(hashed, 0, hashed.length, 0);
        return Math.floorMod(hash, routingShards) / (routingShards / shards);
    }
}
