"""Reads variants.yaml, suites.yaml and the settings of .env into validated models."""
