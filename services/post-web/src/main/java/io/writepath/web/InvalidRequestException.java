package io.writepath.web;

import java.util.List;

/** The request is refused, nothing was stored: HTTP 400 naming each field. */
final class InvalidRequestException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    private final transient List<FieldProblem> problems;

    InvalidRequestException(List<FieldProblem> problems) {
        super(problems.toString());
        this.problems = List.copyOf(problems);
    }

    List<FieldProblem> problems() {
        return problems;
    }
}
