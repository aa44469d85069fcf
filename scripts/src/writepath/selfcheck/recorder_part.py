"""What does recording cost? The same posts by k6 with and without it, against a server that answers at once.

Both sides are one program on one core, in turn, and k6's own trend says how long answers took: the recorder is not
its own judge. The recorded side is the scenario that every run uses; the plain one sends its posts and no more.
"""

import json
import os
import resource
import signal
import statistics
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from writepath import poll, provision
from writepath.errors import LoadError, SetupError
from writepath.load import dataset, k6
from writepath.load.plan import constant_plan, new_run_id
from writepath.process import Daemon
from writepath.provision import packages
from writepath.provision.golang import K6
from writepath.runtime import network
from writepath.runtime.network import LOOPBACK, free_ports
from writepath.selfcheck.scale import missed

ROOT = Path(__file__).resolve().parents[4]
PLAIN, RECORDED = "k6/harness/plain.js", "k6/scenarios/ramp.js"
GOALS = (  # by figure of a side: its name, and the limit of recorded ÷ plain
    ("p99_ms", "p99", "at most", 1.25),
    ("cpu_us", "CPU", "at most", 1.1),
    ("top_per_s", "maximum rate", "at least", 0.9),
)
TREND = ("--summary-trend-stats", "p(99)")
READY_S = 20.0
CREATED = 201
_CONTENT_SEED = 7
_ANSWER_S = 0.05  # virtual users for that: each costs time to start, and the server answers in less than 1 ms
NULL_SERVER = """\
worker_processes 1;
pid {folder}/nginx.pid.own;
error_log stderr warn;
events {{ worker_connections 8192; }}
http {{
  access_log off;
  keepalive_requests 100000000;
  client_body_temp_path {folder}/body;
  proxy_temp_path {folder}/proxy;
  fastcgi_temp_path {folder}/fastcgi;
  uwsgi_temp_path {folder}/uwsgi;
  scgi_temp_path {folder}/scgi;
  server {{
    listen {address} backlog=4096;
    location / {{ return 201; }}
  }}
}}
"""


@contextmanager
def null_server(folder: Path, prefix: Sequence[str] = ()) -> Iterator[str]:
    """Nginx that returns 201 to everything, so that all a load shows is the generator: its base URL.

    prefix: what starts it, such as `taskset -c 0`.
    """
    program = packages.NGINX.installed()
    port = free_ports()[0]
    config = folder / "nginx.conf"
    config.write_text(NULL_SERVER.format(folder=folder, address=f"{LOOPBACK}:{port}"), encoding="utf-8")
    daemon = Daemon(
        "nginx",
        [*prefix, program, "-p", folder, "-c", config, "-e", "stderr", "-g", "daemon off;"],
        pid_folder=folder,
        log=folder / "nginx.log",
        death_signal=signal.SIGTERM,  # SIGKILL of the master would leave its worker behind
    )

    def created() -> bool:
        return network.http_request("GET", port, "/")[0] == CREATED

    try:
        if not poll.until(created, READY_S):
            raise SetupError(f"nginx did not start. The end of its log:\n{daemon.log_tail()}")
        yield f"http://{LOOPBACK}:{port}"
    finally:
        daemon.stop()


@dataclass(frozen=True, kw_only=True)
class Shape:
    """How long it is measured."""

    pairs: int = 5
    rate_per_s: float = 2000.0
    seconds: float = 10.0
    top_users: int = 32  # in a closed loop: each sends as soon as it has its answer
    top_seconds: float = 5.0


@dataclass(frozen=True, kw_only=True)
class Side:
    """One k6, with or without recording."""

    p99_ms: float
    cpu_us: float  # a request
    dropped: int
    top_per_s: float


Pair = tuple[Side, Side]  # plain and recorded, one right after the other


def findings(pairs: Sequence[Pair]) -> Iterator[tuple[str, bool]]:
    """By goal: one line, and whether the median pair is within it."""
    for figure, name, bound, goal in GOALS:
        ratios = [getattr(recorded, figure) / getattr(plain, figure) for plain, recorded in pairs]
        median = statistics.median(ratios)
        met = median <= goal if bound == "at most" else median >= goal
        found = f"{median:.2f} ({min(ratios):.2f} to {max(ratios):.2f})"
        yield f"{name}: {found} times plain k6 (goal {bound} {goal}){missed(met)}", met


def run(say: Callable[[str], None], shape: Shape | None = None) -> bool:
    """Whether every goal is met; one line a pair and a goal."""
    shape = shape or Shape()
    provision.setup(ROOT, say, only={"packages", "k6"})
    pairs = []
    with tempfile.TemporaryDirectory(prefix="writepath-harness-") as name:
        folder = Path(name)
        cores = sorted(os.sched_getaffinity(0))
        say(f"  nginx on core {cores[0]}, k6 on core {cores[-1]}; CPU excludes the start of k6")
        with null_server(folder, _on(cores[0])) as url:
            bench = _Bench(url, folder, [*_on(cores[-1]), str(K6.ensure(ROOT, say))], shape)
            for number in range(shape.pairs):
                order = (PLAIN, RECORDED) if number % 2 == 0 else (RECORDED, PLAIN)
                sides = {script: bench.measure(script) for script in order}
                pairs.append((sides[PLAIN], sides[RECORDED]))
                say(f"  pair {number + 1} of {shape.pairs}, plain / recorded: {_in_words(pairs[-1])}")
    found = list(findings(pairs))
    for line, _ in found:
        say(f"  {line}")
    return all(met for _, met in found)


def _in_words(pair: Pair) -> str:
    a, b = pair
    dropped = f", dropped {a.dropped} / {b.dropped}" if a.dropped or b.dropped else ""
    return (
        f"p99 {a.p99_ms:.2f} / {b.p99_ms:.2f} ms, CPU {a.cpu_us:.0f} / {b.cpu_us:.0f} µs per request, "
        f"maximum rate {a.top_per_s:,.0f} / {b.top_per_s:,.0f}/s{dropped}"
    )


def _on(core: int) -> list[str]:
    return ["taskset", "--cpu-list", str(core)]


class _Bench:
    """Runs k6 against the server, one at a time."""

    def __init__(self, url: str, folder: Path, prefix: Sequence[str], shape: Shape) -> None:
        self._url, self._folder, self._prefix, self._shape = url, folder, prefix, shape
        dataset.generate(1000, _CONTENT_SEED).write(folder / "content.json")
        # The same amount is taken from both sides: what recording adds to the start counts against it.
        self._start_cpu_s = min(self._load(PLAIN, 1)[0] for _ in range(2))

    def measure(self, script: str) -> Side:
        """Of one side."""
        shape = self._shape
        cpu_s, counts = self._load(script, round(shape.rate_per_s * shape.seconds), *TREND)
        loop = ("--vus", str(shape.top_users), "--duration", f"{shape.top_seconds}s")
        _, top = self._load(script, 1, *loop)
        return Side(
            p99_ms=counts["duration_ms_p99"],
            cpu_us=(cpu_s - self._start_cpu_s) / counts["requests"] * 1e6,
            dropped=counts["dropped"],
            top_per_s=top["requests"] / shape.top_seconds,
        )

    def _load(self, script: str, requests: int, *flags: str) -> tuple[float, dict[str, Any]]:
        plan = replace(constant_plan("harness", requests, self._shape.rate_per_s), answer_s=_ANSWER_S)
        load = k6.Load(
            script=ROOT / script,
            target=self._url,
            run_id=new_run_id(),
            plan=plan,
            content=self._folder / "content.json",
            folder=self._folder,
            flags=flags,
        )
        before_s = _children_cpu_s()
        result = k6.run(load, self._prefix)
        if result.exit_code != 0:
            raise LoadError(f"k6 with {script}: {result.meaning}")
        counts: dict[str, Any] = json.loads((self._folder / "summary.json").read_text(encoding="utf-8"))
        return _children_cpu_s() - before_s, counts


def _children_cpu_s() -> float:
    """Of those that have ended: of k6, as nothing else ends meanwhile."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
