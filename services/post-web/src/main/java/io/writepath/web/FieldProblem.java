package io.writepath.web;

/** One thing wrong with a request: the JSON property or query parameter, and why. */
record FieldProblem(String field, String message) {

    /** As a sentence. */
    String inWords() {
        return field + " " + message;
    }
}
