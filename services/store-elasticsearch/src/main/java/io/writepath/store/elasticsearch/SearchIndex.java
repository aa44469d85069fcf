package io.writepath.store.elasticsearch;

import co.elastic.clients.elasticsearch._types.query_dsl.Query;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** What of a text is in the index, and so what a keyword is compared with. */
enum SearchIndex {
    /**
     * What the standard analyzer makes of a text: split at spaces and punctuation, in lower case. Korean is not taken
     * apart: 영화 finds 영화 and not 영화를, where PostgreSQL's {@code LIKE} finds both, and a keyword of punctuation alone
     * finds nothing. Several words are found next to each other and in order.
     */
    WORDS("content", "/posts-mapping.json") {
        @Override
        @Nullable
        String cut(String content) {
            return null;
        }

        @Override
        Query holding(String keyword) {
            return phrase(keyword);
        }
    },

    /** Every two neighbouring characters, in a field of their own: a keyword is found wherever a text holds it. */
    BIGRAMS("bigrams", "/posts-mapping-bigrams.json") {
        @Override
        String cut(String content) {
            return Bigrams.ofText(content);
        }

        @Override
        Query holding(String keyword) {
            return keyword.codePointCount(0, keyword.length()) == 1
                    ? Query.of(any -> any.prefix(prefix -> prefix.field(field()).value(Bigrams.beginning(keyword))))
                    : phrase(Bigrams.ofKeyword(keyword));
        }
    };

    private final String field;
    private final String mapping;

    SearchIndex(String field, String mapping) {
        this.field = field;
        this.mapping = mapping;
    }

    /** The field that is searched. */
    String field() {
        return field;
    }

    /** As the environment and the inspector spell it. */
    String spelled() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** The resource that has the mapping. */
    String mapping() {
        return mapping;
    }

    /** What a document needs for searches beside its content, for the index alone; null where that is all. */
    abstract @Nullable String cut(String content);

    /** What finds the posts that hold the keyword, which is data: no analyzer of it knows any syntax. */
    abstract Query holding(String keyword);

    Query phrase(String text) {
        return Query.of(any -> any.matchPhrase(phrase -> phrase.field(field).query(text)));
    }
}
