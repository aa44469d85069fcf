package io.writepath.post;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Some of the posts that hold a keyword, one after the other in the order of {@link PostCursor}.
 *
 * @param total how many posts hold it in all, counted exactly; null where it was not asked for
 * @param posts at most the asked-for size
 * @param next the place of the last of them, where more follow
 */
public record PostPage(
        @Nullable Long total, List<Post> posts, @Nullable PostCursor next) {

    /**
     * A page of what was found, by one post more than the page holds if there are more.
     *
     * @param found what begins with the page's first post
     */
    public static PostPage of(@Nullable Long total, List<Post> found, int size) {
        if (found.size() <= size) {
            return new PostPage(total, List.copyOf(found), null);
        }
        List<Post> posts = List.copyOf(found.subList(0, size));
        return new PostPage(total, posts, PostCursor.of(posts.getLast()));
    }
}
