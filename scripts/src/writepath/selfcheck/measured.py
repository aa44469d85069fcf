"""Measures one audit or one report in a process of its own, and prints it as JSON: run by parts of bench-harness."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

from writepath.experiments import reporting

KIB_PER_MIB = 1024


def main(what: str, folder: Path) -> None:
    """As `make audit` and `make report` do, to the last line they print."""
    lines: list[str] = []
    began = time.monotonic()
    match what:
        case "audit":
            code = reporting.audit(folder, folder, lines.append)
        case _:
            code = reporting.report(folder, folder)
    figures = {
        "seconds": time.monotonic() - began,
        "peak_mib": peak_rss_kib() / KIB_PER_MIB,
        "exit_code": code,
        "lines": lines,
    }
    print(json.dumps(figures))


def peak_rss_kib() -> int:
    """Of this process since it was started; getrusage would count what its parent held before, too."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return int(next(line.split()[1] for line in status.splitlines() if line.startswith("VmHWM:")))


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
