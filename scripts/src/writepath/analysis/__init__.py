"""Computes figures: pure functions over tables, used alike by a run, a report and `make verify`."""
