package io.writepath.json;

import java.util.Optional;

/**
 * What a line of text may be, for content and keyword alike. Length counts code points, so that a limit of 1,000 means
 * the same for Hangul, Latin and emoji.
 */
public final class TextRules {

    static final int LENGTH_MAX = 1_000;

    private TextRules() {}

    /** Why the text is refused, if it is. */
    public static Optional<String> objection(String text) {
        if (text.isBlank()) {
            return Optional.of("must not be blank");
        }
        if (text.codePointCount(0, text.length()) > LENGTH_MAX) {
            return Optional.of("must be at most %d characters".formatted(LENGTH_MAX));
        }
        if (text.indexOf('\0') >= 0) {
            return Optional.of("must not contain U+0000, which PostgreSQL cannot store");
        }
        if (text.codePoints().anyMatch(TextRules::isSurrogate)) {
            return Optional.of("must be valid Unicode: it has half of a surrogate pair");
        }
        return Optional.empty();
    }

    /** A pair is one code point, so that a surrogate seen as a code point stands alone and has no UTF-8 form. */
    private static boolean isSurrogate(int codePoint) {
        return codePoint >= Character.MIN_SURROGATE && codePoint <= Character.MAX_SURROGATE;
    }
}
