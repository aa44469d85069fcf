package io.writepath.post;

import java.util.Optional;
import java.util.UUID;

/** Reads posts back from the final store of a write path. Throws {@link StoreUnavailableException} when it cannot. */
public interface PostReader {

    /**
     * How many posts pages by number reach: what an index of Elasticsearch shows by default, as it sorts that many in
     * each shard for the last page; kept on every path.
     */
    int WINDOW_POSTS = 10_000;

    Optional<Post> find(UUID id);

    /**
     * Posts whose content holds the keyword, which is data, never a pattern or a query; and how many there are.
     *
     * @param page from 0; {@code (page + 1) * size} is at most {@link #WINDOW_POSTS}
     */
    PostPage search(String keyword, int page, int size);

    /** Those that follow a place, however deep it lies; they are not counted. */
    PostPage searchAfter(String keyword, PostCursor after, int size);
}
