"""Builds reports from saved data: tables and plots as sections, and their pages."""
