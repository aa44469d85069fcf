-- Runs at every start, in one transaction. The lock makes instances that start together take turns: CREATE TABLE
-- IF NOT EXISTS alone fails when two run it at once.
SELECT pg_advisory_xact_lock(hashtext('writepath.schema'));

-- No index but the key: each further one is paid for by every write. POSTGRES_SEARCH_INDEX may add one for searches,
-- search-index-*.sql.
CREATE TABLE IF NOT EXISTS posts (
    id uuid PRIMARY KEY,
    content text NOT NULL CHECK (char_length(content) BETWEEN 1 AND 1000),
    created_at timestamptz NOT NULL
);
