package io.writepath.store.jpa;

import java.util.List;
import java.util.Locale;
import org.springframework.core.io.ClassPathResource;

/** What helps PostgreSQL to find a keyword anywhere in a text. Whatever it is, the answer is the same. */
enum SearchIndex {
    /** Nothing: a search scans the table, and writes pay for no index. */
    NONE,

    /** A GIN index of pg_trgm: every three neighbouring letters or digits. */
    TRIGRAM,

    /** A GIN index over every two neighbouring characters. */
    BIGRAM;

    private static final String HOLDS = "content LIKE ? ESCAPE '!'";
    private static final String HOLDS_ITS_BIGRAMS = "post_bigrams(content) @> post_bigrams(?) AND ";

    /** As the environment and the inspector spell it. */
    String spelled() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** The index's own name; PostgreSQL knows none of this name where there is nothing. */
    String indexName() {
        return "posts_by_" + spelled();
    }

    /** The migration that makes the index unless it is there, and drops every other. */
    ClassPathResource script() {
        return new ClassPathResource("db/search-index/%s/R__search_index.sql".formatted(spelled()));
    }

    /**
     * What a post's content must fulfil. Texts may hold the bigrams of a keyword apart from each other, so that the
     * index only proposes; a keyword of one character has no bigram.
     */
    Condition holding(String keyword) {
        String pattern = "%" + escaped(keyword) + "%";
        return this == BIGRAM && keyword.codePointCount(0, keyword.length()) > 1
                ? new Condition(HOLDS_ITS_BIGRAMS + HOLDS, List.of(keyword, pattern))
                : new Condition(HOLDS, List.of(pattern));
    }

    /** Its own wildcards stand for themselves. */
    private static String escaped(String keyword) {
        return keyword.replace("!", "!!").replace("%", "!%").replace("_", "!_");
    }

    /**
     * A condition in SQL.
     *
     * @param values of its parameters, in order
     */
    record Condition(String sql, List<Object> values) {}
}
