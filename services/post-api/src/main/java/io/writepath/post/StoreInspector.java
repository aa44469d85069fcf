package io.writepath.post;

import java.util.Collection;
import java.util.Set;
import java.util.UUID;
import java.util.function.Consumer;

/** Truth about the final store, for the harness only: served on the inspector port, never through the proxy. */
public interface StoreInspector {

    /**
     * Returns normally once the store answers and every declared copy is assigned; else throws, saying what is missing.
     */
    void assertReady();

    /** Rows or documents stored, counted exactly, after making pending ones visible. */
    long count();

    /** Empties the store: {@link #count()} is 0 afterwards. */
    void reset();

    /** Streams every stored row or document, duplicates included, in no order. */
    void forEach(Consumer<StoredPost> consumer);

    /**
     * Which of these posts a search finds at this moment, as the store's readers would: nothing is refreshed, and
     * nothing is looked up past the search.
     */
    Set<UUID> visible(Collection<UUID> ids);

    Durability durability();
}
