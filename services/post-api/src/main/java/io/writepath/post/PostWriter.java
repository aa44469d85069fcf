package io.writepath.post;

/**
 * The write path itself. Returning is the 201: an implementation returns only once its declared durability holds. A
 * store's own writer steps back where the application brings another: a queue path writes to the queue.
 */
public interface PostWriter {

    /**
     * Writes the post, or finds that the same id with the same content is there already. Blocks the calling (virtual)
     * thread, at most the application deadline of five seconds.
     *
     * @return the post as stored: for a repeated id, with the first write's {@code createdAt} where the path can know
     *     it
     * @throws PostConflictException the id is taken by other content, where the path can know it
     * @throws StoreUnavailableException the declared durability was not reached; the write may or may not have happened
     */
    Post write(Post post);
}
