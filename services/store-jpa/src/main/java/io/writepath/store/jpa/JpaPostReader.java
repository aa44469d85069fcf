package io.writepath.store.jpa;

import io.writepath.post.Post;
import io.writepath.post.PostPage;
import io.writepath.post.PostReader;
import java.util.Optional;
import java.util.UUID;
import org.springframework.data.domain.PageRequest;

/** Finds posts by id and by what they hold. */
class JpaPostReader implements PostReader {

    private final PostRepository repository;
    private final Availability postgres;

    JpaPostReader(PostRepository repository, Availability postgres) {
        this.repository = repository;
        this.postgres = postgres;
    }

    @Override
    public Optional<Post> find(UUID id) {
        return postgres.ask(() -> repository.findById(id).map(PostEntity::toPost));
    }

    @Override
    public PostPage search(String keyword, int size) {
        return postgres.ask(() -> {
            var page = repository.findByContentLike(containing(keyword), PageRequest.ofSize(size));
            return new PostPage(
                    page.getTotalElements(), page.map(PostEntity::toPost).getContent());
        });
    }

    /** The keyword as it is, anywhere: its own wildcards stand for themselves. */
    private static String containing(String keyword) {
        return "%" + keyword.replace("!", "!!").replace("%", "!%").replace("_", "!_") + "%";
    }
}
