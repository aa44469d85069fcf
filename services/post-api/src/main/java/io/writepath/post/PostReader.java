package io.writepath.post;

import java.util.Optional;
import java.util.UUID;

/** Reads posts back from the final store of a write path. Throws {@link StoreUnavailableException} when it cannot. */
public interface PostReader {

    Optional<Post> find(UUID id);

    /** Posts whose content holds the keyword, newest first; the keyword is data, never a pattern or a query. */
    PostPage search(String keyword, int size);
}
