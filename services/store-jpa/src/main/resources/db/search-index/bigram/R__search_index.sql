-- Every two neighbouring characters of a text, each pair as one number: code points need 21 bits, so no two pairs share
-- one. Numbers, because texts would be compared by the database's collation.
CREATE OR REPLACE FUNCTION post_bigrams(content text) RETURNS bigint[]
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN ARRAY(
    SELECT (ascii(pair.head)::bigint << 21) | ascii(pair.tail)
    FROM unnest(string_to_array(content, NULL), (string_to_array(content, NULL))[2:]) AS pair (head, tail)
    WHERE pair.tail IS NOT NULL
);

DROP INDEX IF EXISTS posts_by_trigram;
CREATE INDEX IF NOT EXISTS posts_by_bigram ON posts USING gin (post_bigrams(content));
