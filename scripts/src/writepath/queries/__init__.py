"""How fast does each path find posts again, and how many searches a second does it carry? The suite `search`."""
