package io.writepath.store.elasticsearch;

import java.util.stream.IntStream;

/**
 * A text as its pairs of neighbouring characters, parted by spaces, for an analyzer that only splits at them: the
 * distribution that runs natively has none that could cut pairs itself. A code point is six hexadecimal digits, so that
 * none is taken for a space, for a letter in another case or for a part of another, and a phrase of pairs is found
 * exactly where the characters follow each other.
 */
final class Bigrams {

    /** After the last character, so that this one begins a pair too; Unicode ends at 10ffff. */
    private static final int END = 0xffffff;

    private static final int DIGITS = 6;

    private Bigrams() {}

    /** Of a whole text, as many pairs as it has characters. */
    static String ofText(String text) {
        return pairs(IntStream.concat(text.codePoints(), IntStream.of(END)).toArray());
    }

    /** Of a part of a text, at least two characters long: those of the text, but for the last. */
    static String ofKeyword(String keyword) {
        return pairs(keyword.codePoints().toArray());
    }

    /** How every pair begins whose first character is the text's first. */
    static String beginning(String text) {
        return hex(text.codePointAt(0), new StringBuilder(DIGITS)).toString();
    }

    private static String pairs(int[] characters) {
        StringBuilder pairs = new StringBuilder((2 * DIGITS + 1) * characters.length);
        for (int i = 0; i + 1 < characters.length; i++) {
            if (i > 0) {
                pairs.append(' ');
            }
            hex(characters[i], pairs);
            hex(characters[i + 1], pairs);
        }
        return pairs.toString();
    }

    private static StringBuilder hex(int character, StringBuilder out) {
        for (int shift = 4 * (DIGITS - 1); shift >= 0; shift -= 4) {
            out.append(Character.forDigit((character >> shift) & 0xf, 16));
        }
        return out;
    }
}
