"""Measuring: from an empty store to raw files."""
