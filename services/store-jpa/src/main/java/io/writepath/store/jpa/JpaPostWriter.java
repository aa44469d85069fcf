package io.writepath.store.jpa;

import io.writepath.post.Post;
import io.writepath.post.PostConflictException;
import io.writepath.post.PostWriter;
import org.springframework.dao.DataIntegrityViolationException;

/** Writes a post as one insert in a transaction of its own. */
class JpaPostWriter implements PostWriter {

    private final PostRepository repository;
    private final PostgresAvailability postgres;

    JpaPostWriter(PostRepository repository, PostgresAvailability postgres) {
        this.repository = repository;
        this.postgres = postgres;
    }

    /** Returns after the commit: {@code save} is the whole transaction, since nothing around it opens one. */
    @Override
    public Post write(Post post) {
        return postgres.ask(() -> {
            try {
                return repository.save(new PostEntity(post)).toPost();
            } catch (DataIntegrityViolationException taken) {
                return earlier(post, taken);
            }
        });
    }

    private Post earlier(Post post, DataIntegrityViolationException taken) {
        Post stored = repository.findById(post.id()).map(PostEntity::toPost).orElseThrow(() -> taken);
        if (!stored.content().equals(post.content())) {
            throw new PostConflictException(post.id());
        }
        return stored;
    }
}
