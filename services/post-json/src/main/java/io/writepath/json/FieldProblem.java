package io.writepath.json;

/** One thing wrong with a request: the JSON property or query parameter, and why. */
public record FieldProblem(String field, String message) {

    /** As a sentence. */
    public String inWords() {
        return field + " " + message;
    }
}
