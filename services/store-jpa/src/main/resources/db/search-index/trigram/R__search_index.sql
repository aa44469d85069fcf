-- Serves LIKE where the keyword has three letters or digits in a row (docs/architecture.md).
DROP INDEX IF EXISTS posts_by_bigram;
CREATE EXTENSION IF NOT EXISTS pg_trgm SCHEMA public;
CREATE INDEX IF NOT EXISTS posts_by_trigram ON posts USING gin (content public.gin_trgm_ops);
