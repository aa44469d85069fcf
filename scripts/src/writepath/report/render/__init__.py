"""Renders reports: Markdown, HTML, CSV, JSON, terminal. No renderer computes a figure."""

from writepath.report.render.pages import html, markdown, save
from writepath.report.render.terminal import console, print_report, print_tables

__all__ = ["console", "html", "markdown", "print_report", "print_tables", "save"]
