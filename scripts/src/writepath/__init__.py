"""Writepath: compares write-path architectures under identical load."""
