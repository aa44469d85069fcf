package io.writepath.web;

import io.writepath.json.FieldProblem;
import io.writepath.json.InvalidRequestException;
import io.writepath.json.TextRules;
import io.writepath.post.PostCursor;
import io.writepath.post.PostPage;
import io.writepath.post.PostReader;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The query of {@code GET /api/posts}, as it came. */
record SearchQuery(
        @Nullable String keyword,
        int size,
        @Nullable Integer page,
        @Nullable String after) {

    private static final int SIZE_MAX = 1_000;
    private static final String BEYOND =
            "must end within the first %d posts, at (page + 1) * size; to go on, follow next instead"
                    .formatted(PostReader.WINDOW_POSTS);

    /** Asks for it. Throws with everything that is wrong with the query. */
    PostPage ask(PostReader reader) {
        List<FieldProblem> problems = new ArrayList<>();
        if (keyword == null) {
            problems.add(new FieldProblem("keyword", "must be given"));
        } else {
            TextRules.objection(keyword).ifPresent(why -> problems.add(new FieldProblem("keyword", why)));
        }
        if (size < 1 || size > SIZE_MAX) {
            problems.add(new FieldProblem("size", "must be 1 to %d".formatted(SIZE_MAX)));
        }
        int number = checkedPage(problems);
        PostCursor place = checkedAfter(problems);
        if (keyword == null || !problems.isEmpty()) {
            throw new InvalidRequestException(problems);
        }
        return place == null ? reader.search(keyword, number, size) : reader.searchAfter(keyword, place, size);
    }

    private int checkedPage(List<FieldProblem> problems) {
        if (page == null) {
            return 0;
        }
        if (after != null) {
            problems.add(new FieldProblem("page", "must not be given with after, which says where to go on"));
        } else if (page < 0) {
            problems.add(new FieldProblem("page", "must be 0 or more"));
        } else if ((page + 1L) * size > PostReader.WINDOW_POSTS) {
            problems.add(new FieldProblem("page", BEYOND));
        }
        return page;
    }

    private @Nullable PostCursor checkedAfter(List<FieldProblem> problems) {
        if (after == null) {
            return null;
        }
        PostCursor place = CursorText.parse(after).orElse(null);
        if (place == null) {
            problems.add(new FieldProblem("after", "must be the next of an earlier answer"));
        }
        return place;
    }
}
