package io.writepath.post;

import java.util.Map;
import org.jspecify.annotations.Nullable;

/** How much room the final store's posts take, as the store itself says; for the harness only. */
public interface StoreSizes {

    Sizes sizes();

    /**
     * Bytes on disk of one copy of everything.
     *
     * @param documents rows or documents, counted exactly
     * @param storeBytes of all there is of them, indexes included
     * @param searchIndexBytes of what is there for searches alone; null where there is none, or no figure for it
     * @param parts by the store's own names; they need not add up to the whole
     */
    record Sizes(long documents, long storeBytes, @Nullable Long searchIndexBytes, Map<String, Long> parts) {}
}
