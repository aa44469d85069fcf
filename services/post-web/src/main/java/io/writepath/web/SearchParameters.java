package io.writepath.web;

import io.writepath.json.FieldProblem;
import io.writepath.json.TextRules;
import io.writepath.post.PostCursor;
import io.writepath.post.PostReader;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Reads one parameter after the other, and notes what is wrong; its value is then of no use. */
record SearchParameters(Map<String, List<String>> parameters, List<FieldProblem> problems) {

    private static final int SIZE_DEFAULT = 20;
    private static final int SIZE_MAX = 1_000;
    private static final Pattern WHOLE = Pattern.compile("-?(0|[1-9][0-9]{0,8})");
    private static final String BEYOND =
            "must end within the first %d posts, at (page + 1) * size; to go on, follow next instead"
                    .formatted(PostReader.WINDOW_POSTS);

    String keyword() {
        String keyword = text("keyword");
        if (keyword == null) {
            return refuse("keyword", "must be given", "");
        }
        TextRules.objection(keyword).ifPresent(why -> refuse("keyword", why, ""));
        return keyword;
    }

    int size() {
        int size = number("size", SIZE_DEFAULT);
        return size < 1 || size > SIZE_MAX ? refuse("size", "must be 1 to %d".formatted(SIZE_MAX), SIZE_DEFAULT) : size;
    }

    int page(int size) {
        if (parameters.containsKey("page") && parameters.containsKey("after")) {
            return refuse("page", "must not be given with after, which says where to go on", 0);
        }
        int page = number("page", 0);
        if (page < 0) {
            return refuse("page", "must be 0 or more", 0);
        }
        return (page + 1L) * size > PostReader.WINDOW_POSTS ? refuse("page", BEYOND, 0) : page;
    }

    @Nullable
    PostCursor after() {
        String after = text("after");
        if (after == null) {
            return null;
        }
        return CursorText.parse(after).orElseGet(() -> {
            problems.add(new FieldProblem("after", "must be the next of an earlier answer"));
            return null;
        });
    }

    /** As the contract writes a number: Spring's own conversion also takes 0x10, blanks around and any digits. */
    private int number(String name, int missing) {
        String text = text(name);
        if (text == null) {
            return missing;
        }
        return WHOLE.matcher(text).matches() ? Integer.parseInt(text) : refuse(name, "must be a whole number", missing);
    }

    /** Spring's own conversion of a repeated parameter takes its first number, or joins its texts. */
    private @Nullable String text(String name) {
        List<String> values = parameters.getOrDefault(name, List.of());
        if (values.size() > 1) {
            return refuse(name, "must be given once", values.getFirst());
        }
        return values.isEmpty() ? null : values.getFirst();
    }

    private <T> T refuse(String field, String why, T instead) {
        problems.add(new FieldProblem(field, why));
        return instead;
    }
}
