"""How far does a write path carry? The search for its capacity, what it does beyond, and what limits it."""
