package io.writepath.json;

import java.util.List;

/** The request is refused, nothing was stored: HTTP 400 naming each field. */
public final class InvalidRequestException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    private final transient List<FieldProblem> problems;

    public InvalidRequestException(List<FieldProblem> problems) {
        super(problems.toString());
        this.problems = List.copyOf(problems);
    }

    /** Each field that is wrong, and why. */
    public List<FieldProblem> problems() {
        return problems;
    }
}
