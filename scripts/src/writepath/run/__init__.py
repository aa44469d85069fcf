"""One run, from an empty store to its verdict."""
