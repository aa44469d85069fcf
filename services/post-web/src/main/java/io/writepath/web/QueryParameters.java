package io.writepath.web;

import io.writepath.json.FieldProblem;
import io.writepath.json.InvalidRequestException;
import io.writepath.json.TextRules;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Reads one parameter of a query after the other, and notes what is wrong; its value is then of no use. */
public class QueryParameters {

    private static final int SIZE_DEFAULT = 20;
    private static final int SIZE_MAX = 1_000;
    private static final Pattern WHOLE = Pattern.compile("-?(0|[1-9][0-9]{0,8})");

    private final Map<String, List<String>> parameters;
    private final List<FieldProblem> problems = new ArrayList<>();

    public QueryParameters(Map<String, List<String>> parameters) {
        this.parameters = parameters;
    }

    /** Throws with everything that was wrong with what was read. */
    public final void assertValid() {
        if (!problems.isEmpty()) {
            throw new InvalidRequestException(problems);
        }
    }

    public final int size() {
        int size = number("size", SIZE_DEFAULT);
        return size < 1 || size > SIZE_MAX ? refuse("size", "must be 1 to %d".formatted(SIZE_MAX), SIZE_DEFAULT) : size;
    }

    /**
     * The number of a page of this size, which must end within the first {@code items}; else {@code beyond} says why.
     */
    public final int page(int size, long items, String beyond) {
        int page = number("page", 0);
        if (page < 0) {
            return refuse("page", "must be 0 or more", 0);
        }
        return (page + 1L) * size > items ? refuse("page", beyond, 0) : page;
    }

    /** One that, where it is given, keeps the rules for a line of text. */
    public final @Nullable String line(String name) {
        String line = text(name);
        if (line != null) {
            TextRules.objection(line).ifPresent(why -> refuse(name, why, ""));
        }
        return line;
    }

    final boolean has(String name) {
        return parameters.containsKey(name);
    }

    /** Spring's own conversion of a repeated parameter takes its first number, or joins its texts. */
    final @Nullable String text(String name) {
        List<String> values = parameters.getOrDefault(name, List.of());
        if (values.size() > 1) {
            return refuse(name, "must be given once", values.getFirst());
        }
        return values.isEmpty() ? null : values.getFirst();
    }

    final <T extends @Nullable Object> T refuse(String field, String why, T instead) {
        problems.add(new FieldProblem(field, why));
        return instead;
    }

    /** As the contract writes a number: Spring's own conversion also takes 0x10, blanks around and any digits. */
    private int number(String name, int missing) {
        String text = text(name);
        if (text == null) {
            return missing;
        }
        return WHOLE.matcher(text).matches() ? Integer.parseInt(text) : refuse(name, "must be a whole number", missing);
    }
}
