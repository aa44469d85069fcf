"""Stands in for k6 on its command line: sends the plan's writes at once, and writes the ledger as if on time.

First argument: `ok`, `hang` (after its writes, until a signal), `idle` (no write), `die` (exit code 107 before any).
"""

import itertools
import json
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urlsplit

from writepath.config.registry import Phase
from writepath.load.ledger import WRONG_ACK
from writepath.load.plan import arrival_plan, encode_id

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
    sent = 0
    to_app = HTTPConnection(urlsplit(given["BENCH_TARGET"]).netloc)
    with closing(to_app), Path(given["BENCH_LEDGER"]).open("wb") as file:
        file.write(recording.HEADER)
        for sequence, start_us in enumerate(() if mode == "idle" else starts_us(given)):
            body = {
                "id": encode_id(given["BENCH_RUN"], sequence),
                "content": content[sequence % len(content)],
            }
            began = time.perf_counter()
            to_app.request("POST", "/api/posts", json.dumps(body).encode())
            with to_app.getresponse() as answer:
                named = json.loads(answer.read())["id"]
            took_us = round((time.perf_counter() - began) * 1_000_000)
            code = 0 if answer.status == 201 else 1000 + answer.status
            if answer.status == 201 and named != body["id"]:
                code = WRONG_ACK
            file.write(recording.rows([(sequence, 0, start_us, 0, took_us, answer.status, code)]))
            file.flush()
            sent += 1
    if mode == "hang":
        signal.sigwait({signal.SIGINT, signal.SIGTERM})
    counts = {"started": sent, "dropped": 0}
    Path(given["BENCH_SUMMARY"]).write_text(json.dumps(counts), encoding="utf-8")
    return 0


def starts_us(given: dict[str, str]) -> Iterator[int]:
    """Epoch: of a closed load until its end, else by the schedule and, as k6, never early."""
    origin_us = time.time_ns() // 1000
    if given["BENCH_MODEL"] == "closed":
        while (now_us := time.time_ns() // 1000) < origin_us + float(given["BENCH_SECONDS"]) * 1_000_000:
            yield now_us
        return
    plan = arrival_plan([Phase(**phase) for phase in json.loads(given["BENCH_PHASES"])])
    for offset_ns in plan.starts_ns.tolist():
        start_us = origin_us + -(-offset_ns // 1000)
        time.sleep(max(0.0, start_us / 1_000_000 - time.time()))
        yield start_us


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
