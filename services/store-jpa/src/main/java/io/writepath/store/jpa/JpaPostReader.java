package io.writepath.store.jpa;

import io.writepath.post.Post;
import io.writepath.post.PostCursor;
import io.writepath.post.PostPage;
import io.writepath.post.PostReader;
import java.util.Optional;
import java.util.UUID;

/** Finds posts by id and by what they hold. */
class JpaPostReader implements PostReader {

    private final PostRepository repository;
    private final PostSearch search;
    private final PostgresAvailability postgres;

    JpaPostReader(PostRepository repository, PostSearch search, PostgresAvailability postgres) {
        this.repository = repository;
        this.search = search;
        this.postgres = postgres;
    }

    @Override
    public Optional<Post> find(UUID id) {
        return postgres.ask(() -> repository.findById(id).map(PostEntity::toPost));
    }

    @Override
    public PostPage search(String keyword, int page, int size) {
        return postgres.ask(() -> search.page(keyword, page, size));
    }

    @Override
    public PostPage searchAfter(String keyword, PostCursor after, int size) {
        return postgres.ask(() -> search.after(keyword, after, size));
    }
}
