package io.writepath.post;

import java.util.List;

/** Writes many posts in one transaction or request of the final store: the far end of a queue path. */
public interface PostBatchWriter {

    /**
     * Stores every post that can be stored. Returning means that all of them are durable, so the caller may acknowledge
     * their messages. Writing the same posts again is harmless. An id repeated inside one batch is treated as if the
     * posts had come one after the other: the first is kept.
     *
     * @param posts not empty
     * @return one outcome a post, in the order of {@code posts}
     * @throws StoreUnavailableException the store could not be reached or is overloaded; some posts may be stored; the
     *     caller keeps the batch and writes it again later
     * @throws RuntimeException the batch failed for another reason; the caller writes its posts one by one
     */
    List<Outcome> write(List<Post> posts);

    enum Outcome {
        /** New in the store. */
        STORED,
        /** The store has this id with this content: a redelivery or a client's retry. */
        ALREADY_STORED,
        /** The store has this id with other content, which stays. */
        CONFLICTING,
        /** The store will never take this post, whatever the time. */
        REJECTED
    }
}
