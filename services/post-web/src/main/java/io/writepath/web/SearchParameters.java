package io.writepath.web;

import io.writepath.post.PostCursor;
import io.writepath.post.PostReader;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Those of a search for posts. */
final class SearchParameters extends QueryParameters {

    private static final String BEYOND =
            "must end within the first %d posts, at (page + 1) * size; to go on, follow next instead"
                    .formatted(PostReader.WINDOW_POSTS);

    SearchParameters(Map<String, List<String>> parameters) {
        super(parameters);
    }

    String keyword() {
        String keyword = line("keyword");
        return keyword == null ? refuse("keyword", "must be given", "") : keyword;
    }

    int page(int size) {
        if (has("page") && has("after")) {
            return refuse("page", "must not be given with after, which says where to go on", 0);
        }
        return page(size, PostReader.WINDOW_POSTS, BEYOND);
    }

    @Nullable
    PostCursor after() {
        String after = text("after");
        if (after == null) {
            return null;
        }
        return CursorText.parse(after).orElseGet(() -> refuse("after", "must be the next of an earlier answer", null));
    }
}
