package io.writepath.post;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Fills the final store past the write path, as fast as the store itself can, for searches over many posts. For the
 * harness only, on an otherwise idle store: between begin and finish it is neither searched nor written to. Throws
 * {@link StoreUnavailableException} when it cannot.
 */
public interface PostLoader {

    /** In one call of {@link #load}. */
    int POSTS_MAX = 10_000;

    /** Puts away what slows a load down and can be had afterwards. Doing so twice is harmless. */
    void begin();

    /**
     * Stores these posts, or some of them and fails: who cannot go on empties the store.
     *
     * @throws LoadRefusedException the store has one of the ids, or will never take one of the posts
     */
    void load(List<Post> posts);

    /** Makes of the store what it is declared to be, and settles it: everything loaded can be searched. */
    Finished finish();

    /**
     * How long the end of a load took.
     *
     * @param buildSeconds of building the search index anew; null where it is built while loading, or there is none
     * @param settleSeconds of everything after that
     */
    record Finished(@Nullable Double buildSeconds, double settleSeconds) {}
}
