package io.writepath.json;

import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.DatabindException;
import tools.jackson.databind.exc.UnrecognizedPropertyException;

/** Says what was wrong with a body in the words of the contract; the parser's own messages quote its internals. */
public final class JsonObjections {

    private static final String WHOLE_BODY = "body";

    private JsonObjections() {}

    /** Of what the parser itself threw, where it threw anything. */
    public static FieldProblem of(@Nullable Throwable thrown) {
        return switch (thrown) {
            case UnrecognizedPropertyException unknown ->
                new FieldProblem(unknown.getPropertyName(), "is not a known property");
            case DatabindException mismatch
            when !mismatch.getPath().isEmpty() -> new FieldProblem(pathOf(mismatch), "must be a string");
            case DatabindException mismatch -> new FieldProblem(WHOLE_BODY, "must be one JSON object");
            case null -> new FieldProblem(WHOLE_BODY, "must be one JSON object");
            default -> new FieldProblem(WHOLE_BODY, "must be well-formed JSON");
        };
    }

    private static String pathOf(JacksonException mismatch) {
        return mismatch.getPath().stream()
                .map(JacksonException.Reference::getPropertyName)
                .map(String::valueOf)
                .collect(Collectors.joining("."));
    }
}
