-- Indexes for what is looked up: a user's points, an exhibition's artworks, a user by name.
CREATE TABLE users (
    id bigint PRIMARY KEY,
    name text NOT NULL UNIQUE,
    password_hash bytea NOT NULL
);

CREATE TABLE point (
    id bigint PRIMARY KEY,
    user_id bigint NOT NULL REFERENCES users,
    amount integer NOT NULL
);
CREATE INDEX ON point (user_id);

CREATE TABLE artist (
    id bigint PRIMARY KEY,
    name text NOT NULL
);

-- The last three columns repeat what other tables say, for feeds that do without these tables.
CREATE TABLE exhibition (
    id bigint PRIMARY KEY,
    title text NOT NULL,
    artist_id bigint NOT NULL REFERENCES artist,
    author_name text NOT NULL,
    sale boolean NOT NULL,
    artwork_ids bigint[] NOT NULL
);

CREATE TABLE artwork (
    id bigint PRIMARY KEY,
    exhibition_id bigint NOT NULL REFERENCES exhibition,
    title text NOT NULL,
    for_sale boolean NOT NULL
);
CREATE INDEX ON artwork (exhibition_id);

-- Signs the tokens of every instance on this database.
CREATE TABLE token_key (key bytea NOT NULL);
INSERT INTO token_key VALUES (uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()));
