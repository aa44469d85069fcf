-- No index but the key: each further one is paid for by every write. POSTGRES_SEARCH_INDEX may add one for searches,
-- db/search-index/.
CREATE TABLE posts (
    id uuid PRIMARY KEY,
    content text NOT NULL CHECK (char_length(content) BETWEEN 1 AND 1000),
    created_at timestamptz NOT NULL
);
