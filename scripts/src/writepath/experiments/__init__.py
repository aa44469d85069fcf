"""Runs experiments: the engine, and one module for each kind."""
