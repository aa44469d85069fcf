"""Counts what nginx's error log names as the cause of a failure."""

import re
from collections import Counter

LINE = re.compile(
    r"^\d{4}/\d\d/\d\d \d\d:\d\d:\d\d \[(?P<level>\w+)\] \d+#\d+: (?:\*\d+ )?(?:\d+ )?(?P<what>.*)$",
    re.MULTILINE,
)
NUMBER = re.compile(r" failed \(\d+: ([^)]+)\)")  # of the system's error; its words say the same
CONTEXT = re.compile(r", (?:client|server|request|upstream|host):.*$")
FAILURES = ("error", "crit", "alert", "emerg")
REUSING = "worker_connections are not enough, reusing connections"  # a warning, at most once a second


def causes(log: str) -> Counter[str]:
    """By cause, lines of the log: `accept4() failed: Too many open files`. One warning counts, as it closes clients."""
    found = Counter[str]()
    for line in LINE.finditer(log):
        what = NUMBER.sub(r" failed: \1", CONTEXT.sub("", line["what"])).strip()
        if line["level"] in FAILURES or what == REUSING:
            found[what] += 1
    return found
