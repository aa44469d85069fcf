package io.writepath.store.elasticsearch;

import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** One change to one document, sent in a bulk or alone. */
sealed interface Operation {

    UUID id();

    /** Stores the document unless its id is taken. */
    record Create(UUID id, PostDocument document) implements Operation {}

    /** Stores the document under an id of Elasticsearch's own: a second time, where it is sent again. */
    record Append(UUID id, PostDocument document) implements Operation {}

    /**
     * Writes the stored document once more as it is, and returns it. A plain read would not do for a repeated post: it
     * shows a document whose first write is still on its way to the disk and to the replicas (and, asked of a replica,
     * may not show it yet). This runs on the primary and its answer comes after both.
     *
     * @param bigrams of the stored content, where those are searched: Elasticsearch writes again what {@code _source}
     *     has, and they are not in it
     */
    record Confirm(UUID id, @Nullable String bigrams) implements Operation {}
}
