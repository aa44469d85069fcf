package io.writepath.store.tutorial;

import io.writepath.post.Post;
import io.writepath.post.PostCursor;
import io.writepath.post.PostPage;
import io.writepath.post.PostReader;
import io.writepath.post.PostWriter;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.springframework.data.domain.Limit;
import org.springframework.data.domain.PageRequest;

/** The service class of the tutorial: each call goes to the repository and comes back. */
class TutorialPosts implements PostReader {

    private final TutorialPostRepository repository;

    TutorialPosts(TutorialPostRepository repository) {
        this.repository = repository;
    }

    @Override
    public Optional<Post> find(UUID id) {
        return repository.findFirstByClientIdOrderByNumber(id).map(TutorialPost::toPost);
    }

    @Override
    public PostPage search(String keyword, int page, int size) {
        var found =
                repository.findByContentContainingOrderByCreatedAtDescClientIdDesc(keyword, PageRequest.of(page, size));
        List<Post> posts = found.map(TutorialPost::toPost).getContent();
        boolean more = found.hasNext() && !posts.isEmpty();
        return new PostPage(found.getTotalElements(), posts, more ? PostCursor.of(posts.getLast()) : null);
    }

    @Override
    public PostPage searchAfter(String keyword, PostCursor after, int size) {
        var found = repository.findFollowing(keyword, after.createdAt(), after.id(), Limit.of(size + 1));
        return PostPage.of(null, found.stream().map(TutorialPost::toPost).toList(), size);
    }

    /** Apart, because a queue path brings a writer of its own and still reads here. */
    static class Writer implements PostWriter {

        private final TutorialPostRepository repository;

        Writer(TutorialPostRepository repository) {
            this.repository = repository;
        }

        @Override
        public Post write(Post post) {
            return repository.save(new TutorialPost(post)).toPost();
        }
    }
}
