"""Tables, plots and pages, made from run folders alone."""

from writepath.report.cli import cli_compare, cli_publish, cli_report

__all__ = ["cli_compare", "cli_publish", "cli_report"]
