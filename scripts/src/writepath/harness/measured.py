"""What does one audit cost in a process of its own? Prints it as JSON: run by the audit's part of bench-harness."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

import numpy as np

from writepath.run.audit_cli import lines
from writepath.run.raw_audit import recompute

MEMBERS_FILE = "found.npz"
KIB_PER_MIB = 1024


def main(folder: Path) -> None:
    """Audits as `make audit` does, to the last line it would print; then keeps what was found for the caller."""
    began = time.monotonic()
    found = recompute(folder)
    printed = list(lines(found))
    seconds = time.monotonic() - began
    peak_mib = peak_rss_kib() / KIB_PER_MIB
    np.savez(folder / MEMBERS_FILE, allow_pickle=False, **found.comparison.members)
    figures = {
        "seconds": seconds,
        "peak_mib": peak_mib,
        "verdict": found.audit.verdict,
        "unread": found.audit.unread,
        "identities_broken": found.audit.identities_broken,
        "foreign": found.comparison.foreign,
        "lines": len(printed),
    }
    print(json.dumps(figures))


def peak_rss_kib() -> int:
    """Of this process since it was started; getrusage would count what its parent held before, too."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return int(next(line.split()[1] for line in status.splitlines() if line.startswith("VmHWM:")))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
