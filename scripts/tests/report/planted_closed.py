"""A closed suite of users, pools and instances: users and instances change throughput, the pool does not."""

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np

from report.planted_suite import PLANNED, Planted
from writepath.records.load import ClosedLoad
from writepath.records.measures import Requests

USERS, POOL, INSTANCES = ("1", "15", "30"), ("10", "15"), ("1", "2")
BASELINE = {"VIRTUAL_USERS": "15", "POOL_SIZE": "10", "INSTANCES": "1"}
TPS = {"1": 1000.0, "15": 2000.0, "30": 2500.0}
BLOCKS = 3
Change = Callable[[Planted], None]


def cell(levels: dict[str, str], block: int, per_s: float, **more: Any) -> Planted:
    """One, with that throughput."""
    closed = ClosedLoad(
        virtual_users=int(levels.get("VIRTUAL_USERS", "15")),
        errors=more.get("unserved", 0),
        cpu_share=0.875,
        pool_waiting_mean=2.5,
        pool_waiting_max=5.0,
        errors_at_proxy=more.get("unserved", 0),
        proxy_errors=more.pop("proxy_errors", {}),
        time_wait_mean=100.0,
        time_wait_max=250.0,
    )
    changes = {"closed": closed, "achieved_per_s": per_s, "achieved_peak_per_s": 1.2 * per_s, "phases": ()}
    return Planted(levels=levels, block=block, closed=True, changes=changes, **more)


def specs(change: Change = lambda _: None) -> list[Planted]:
    """Every cell in three blocks, and the A/A control of the baseline, 4 % slower in one block."""
    luck = np.random.default_rng(3)
    found = []
    for block in range(1, BLOCKS + 1):
        for users, pool, instances in itertools.product(USERS, POOL, INSTANCES):
            levels = {"VIRTUAL_USERS": users, "POOL_SIZE": pool, "INSTANCES": instances}
            per_s = TPS[users] * (0.85 if instances == "2" else 1.0) * float(np.exp(luck.normal(0, 0.005)))
            found.append(cell(levels, block, per_s))
            if levels == BASELINE:
                found.append(cell(levels, block, per_s * (1 / 1.04 if block == 2 else 1.0), control=True))
    for one in found:
        change(one)
    return found


def with_errors(spec: Planted) -> None:
    """30 users on one instance with the small pool are answered 503 in one block."""
    if spec.block == 1 and spec.levels == {"VIRTUAL_USERS": "30", "POOL_SIZE": "10", "INSTANCES": "1"}:
        made = cell(spec.levels, 1, 9999.0, unserved=PLANNED // 10)
        spec.changes, spec.unserved = made.changes, made.unserved


FULL = "worker_connections are not enough"


def limits() -> list[Planted]:
    """Three conditions in two blocks: one fails at the proxy, one waits in it, one has no limit in its way."""
    found = []
    for block in (1, 2):
        start = cell(
            {"CONDITION": "start"}, block, 100.0, unserved=PLANNED // 2, proxy_errors={FULL: 100 * block}
        )
        start.changes["requests"] = failed(PLANNED // 2)
        waiting = {"accept4() failed: Too many open files": 7}
        found += [
            start,
            cell({"CONDITION": "connections"}, block, 900.0, proxy_errors=waiting),
            cell({"CONDITION": "all"}, block, 2000.0),
        ]
    return found


def failed(number: int) -> Requests:
    """So many connections closed."""
    return Requests(
        planned=PLANNED, started=PLANNED, dropped=0, acknowledged=PLANNED - number, rejected=0,
        indeterminate=number, by_status={}, by_error={"connection closed": number},
    )  # fmt: skip
