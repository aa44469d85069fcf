package io.writepath.web;

/** The instance serves as many requests as it may: HTTP 503 at once. */
final class TooMuchInFlightException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    TooMuchInFlightException(int inFlightMax) {
        // No stack trace: under overload this is the commonest answer, and its origin is always the same line.
        super("this instance is serving %d requests already".formatted(inFlightMax), null, false, false);
    }
}
