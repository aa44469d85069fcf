"""What does one report cost in a process of its own? Prints it as JSON: run by the report's part of bench-harness."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

from writepath.harness.measured import KIB_PER_MIB, peak_rss_kib
from writepath.report import cli_report

TABLES_FILE = "report/tables.json"


def main(folder: Path) -> None:
    """As `make report` does, to the last file and the last table it prints."""
    began = time.monotonic()
    code = cli_report(folder, folder)
    figures = {
        "seconds": time.monotonic() - began,
        "peak_mib": peak_rss_kib() / KIB_PER_MIB,
        "exit_code": code,
    }
    print(json.dumps(figures))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
