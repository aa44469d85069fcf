"""Stands in for k6 on its command line: sends the plan's writes at once, and writes the ledger as if on time.

First argument: `ok`, `hang` (after its writes, until a signal), `die` (exit code 107 before any write).
"""

from __future__ import annotations

import itertools
import json
import signal
import sys
import time
from contextlib import closing
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urlsplit

from writepath.load.ledger import WRONG_ACK
from writepath.load.plan import arrival_plan, encode_id
from writepath.registry import Phase

# As a program of its own it does not find what lies beside its folder.
sys.path.append(str(Path(__file__).resolve().parents[1]))
import recording


def main(mode: str, arguments: list[str]) -> int:
    """The exit code, as k6 has them."""
    if mode == "die":
        print("GoError: planted")
        return 107
    given = dict(word.split("=", 1) for flag, word in itertools.pairwise(arguments) if flag == "-e")
    content = json.loads(Path(given["BENCH_CONTENT"]).read_text(encoding="utf-8"))
    plan = arrival_plan([Phase(**phase) for phase in json.loads(given["BENCH_PHASES"])])
    origin_ms = time.time() * 1000
    to_app = HTTPConnection(urlsplit(given["BENCH_TARGET"]).netloc)
    with closing(to_app), Path(given["BENCH_LEDGER"]).open("wb") as file:
        file.write(recording.HEADER)
        for sequence, offset_ms in enumerate(plan.starts_ms.tolist()):
            body = {
                "id": encode_id(given["BENCH_RUN"], sequence),
                "content": content[sequence % len(content)],
            }
            time.sleep(max(0.0, (origin_ms + offset_ms) / 1000 - time.time()))  # as k6, never early
            began = time.perf_counter()
            to_app.request("POST", "/api/posts", json.dumps(body).encode())
            with to_app.getresponse() as answer:
                named = json.loads(answer.read())["id"]
            took_ms = (time.perf_counter() - began) * 1000
            code = 0 if answer.status == 201 else 1000 + answer.status
            if answer.status == 201 and named != body["id"]:
                code = WRONG_ACK
            file.write(recording.rows([(sequence, origin_ms + offset_ms, 0.0, took_ms, answer.status, code)]))
            file.flush()
    if mode == "hang":
        signal.sigwait({signal.SIGINT, signal.SIGTERM})
    counts = {"started": plan.planned, "finished": plan.planned, "dropped": 0, "virtual_users_max": 1}
    Path(given["BENCH_SUMMARY"]).write_text(json.dumps(counts), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
