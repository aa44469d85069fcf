package io.writepath.web;

import io.writepath.post.PostCursor;
import io.writepath.post.PostPage;
import io.writepath.post.PostReader;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The query of {@code GET /api/posts}; after: where to go on, in the place of a page. */
record SearchQuery(
        String keyword, int size, int page, @Nullable PostCursor after) {

    PostPage ask(PostReader reader) {
        return after == null ? reader.search(keyword, page, size) : reader.searchAfter(keyword, after, size);
    }

    /** Of the parameters as they came. Throws with everything that is wrong with them. */
    static SearchQuery of(Map<String, List<String>> parameters) {
        SearchParameters given = new SearchParameters(parameters);
        String keyword = given.keyword();
        int size = given.size();
        int page = given.page(size);
        PostCursor after = given.after();
        given.assertValid();
        return new SearchQuery(keyword, size, page, after);
    }
}
