"""Is the load generator the limit? Posts at a high rate by k6 on one processor, to a server that answers at once.

The load is a measured one: its scenario, its number of virtual users, its ledger.
"""

import os
import resource
import signal
import statistics
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from writepath import poll, provision
from writepath.errors import LoadError, SetupError
from writepath.load import dataset, k6, ledger
from writepath.load.ledger import Ledger
from writepath.load.plan import NS_PER_MS, ArrivalPlan, align, constant_plan, new_run_id
from writepath.process import Daemon
from writepath.provision import packages
from writepath.provision.golang import K6
from writepath.runtime import network
from writepath.runtime.network import LOOPBACK, free_ports
from writepath.selfcheck.scale import missed

ROOT = Path(__file__).resolve().parents[4]
SCRIPT = ROOT / "k6" / "scenarios" / "ramp.js"
GOALS = (  # by figure of a round: how it is said, and the most
    ("dropped", "dropped: {:.0f}", 0),
    ("p99_ms", "p99 from the scheduled send time: {:.2f} ms", 5.0),
)
READY_S = 20.0
CREATED = 201
_CONTENT_SEED = 7
_START_REQUESTS = 50  # of a load whose processor time is that of k6's start
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
class Round:
    """One load."""

    dropped: int
    p99_ms: float  # from the scheduled send time
    cpu_us: float  # a request; without the start of k6


def findings(rounds: Sequence[Round]) -> Iterator[tuple[str, bool]]:
    """By goal: one line, and whether the median round is within it."""
    for figure, words, most in GOALS:
        median = statistics.median(getattr(one, figure) for one in rounds)
        met = median <= most
        yield f"{words.format(median)} (goal at most {most:g}){missed(met)}", met


def run(
    say: Callable[[str], None], rounds: int = 3, rate_per_s: float = 6000.0, seconds: float = 10.0
) -> bool:
    """Whether every goal is met; one line a round and a goal."""
    provision.setup(ROOT, say, only={"packages", "k6"})
    cores = sorted(os.sched_getaffinity(0))
    say(f"  nginx on core {cores[0]}, k6 on core {cores[-1]}: {rate_per_s:,.0f} requests/s")
    with (
        tempfile.TemporaryDirectory(prefix="writepath-harness-") as name,
        null_server(Path(name), _on(cores[0])) as url,
    ):
        send = partial(_sent, url, Path(name), [*_on(cores[-1]), str(K6.ensure(ROOT, say))], rate_per_s)
        start_cpu_s = min(send(_START_REQUESTS)[0] for _ in range(2))
        measured = []
        for number in range(1, rounds + 1):
            cpu_s, plan, taken = send(round(rate_per_s * seconds))
            measured.append(one := _round(cpu_s - start_cpu_s, plan, taken))
            say(
                f"  round {number} of {rounds}: p99 {one.p99_ms:.2f} ms, dropped {one.dropped},"
                f" CPU {one.cpu_us:.0f} µs per request"
            )
    found = list(findings(measured))
    for line, _ in found:
        say(f"  {line}")
    return all(met for _, met in found)


def _on(core: int) -> list[str]:
    return ["taskset", "--cpu-list", str(core)]


def _sent(
    url: str, folder: Path, prefix: Sequence[str], rate_per_s: float, requests: int
) -> tuple[float, ArrivalPlan, Ledger]:
    """A load of k6 with the prefix: its processor time, plan and ledger."""
    content = folder / "content.json"
    dataset.generate(1000, _CONTENT_SEED).write(content)
    plan = constant_plan("harness", requests, rate_per_s)
    load = k6.Load(script=SCRIPT, target=url, run_id=new_run_id(), plan=plan, content=content, folder=folder)
    before_s = _children_cpu_s()
    result = k6.run(load, [prefix])
    if not result.complete:
        raise LoadError(f"k6: {result.meaning}")
    return _children_cpu_s() - before_s, plan, ledger.read(result.ledger)


def _round(cpu_s: float, plan: ArrivalPlan, taken: Ledger) -> Round:
    records = taken.records
    behind_ns = align(plan, records["seq"], records["start_us"]).behind_ns()
    took_ms = behind_ns / NS_PER_MS + (records["blocked_us"] + records["duration_us"]) / 1000
    return Round(
        dropped=plan.planned - len(records),
        p99_ms=float(np.percentile(took_ms, 99)),
        cpu_us=cpu_s / len(records) * 1e6,
    )


def _children_cpu_s() -> float:
    """Of those that have ended: of k6, as nothing else ends meanwhile."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
