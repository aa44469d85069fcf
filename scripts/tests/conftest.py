"""What holds for every test."""

from __future__ import annotations

from hypothesis import settings

# No deadline: the machine may be busy. The same examples each time: a red build stays red until it is mended.
settings.register_profile("writepath", deadline=None, derandomize=True, database=None)
settings.load_profile("writepath")
