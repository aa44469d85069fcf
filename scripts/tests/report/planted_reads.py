"""Loads of reads with known figures: sessions by pool, points by users and condition, feeds by strategy."""

from dataclasses import replace
from typing import Any

from report.planted_closed import cell
from report.planted_suite import PLANNED, Planted, latency, report_of, suite
from writepath.records.load import ReadLoad, SessionLoad
from writepath.records.load_facts import FoundRate
from writepath.report.model import Report

READ = ReadLoad(
    statements_per_request=1.0, rows_per_request=1.0, wait_ms_mean=0.05, held_ms_mean=0.8, slow=0, slow_seconds=0,
    errors_at_application=0, cpu_shares={"jpa-reader": 0.55, "postgres": 0.25, "nginx": 0.06},
)  # fmt: skip
FOUND = (
    FoundRate(rate_per_s=40.0, sessions=2400, timed_out=0, failed=0),
    FoundRate(rate_per_s=60.0, sessions=3600, timed_out=0, failed=0),
    FoundRate(rate_per_s=90.0, sessions=5400, timed_out=31, failed=44),
    FoundRate(rate_per_s=60.0, sessions=3590, timed_out=0, failed=0),
)
SESSIONS = SessionLoad(
    requests=7200, failed_requests=0, failed_logins=0, failed_sessions=0, timed_out=0, by_error={},
    requests_per_s=360.0, request_latency_ms=latency(0.5), found_rates=FOUND, rate_per_s=60.0,
)  # fmt: skip


def _read(spec: Planted, **more: Any) -> Planted:
    """It, as a load that only reads."""
    answers = {"status_200": PLANNED - spec.unserved, "timed_out": spec.unserved}
    read = replace(READ, **more.pop("read", {}))
    spec.changes |= {"audit": None, "drain": None, "answers": answers, "read_load": read, **more}
    return spec


def _page(specs: list[Planted], settings: list[dict[str, str]], **changes: Any) -> Report:
    """The page of a suite whose cells have these settings."""
    data = suite(*specs, **changes)
    for one, own in zip(data.cells, settings, strict=True):
        one.record.settings.update(own)
    return report_of(data)


def _session(condition: str, scale: float, *, unserved: int = 0, **load: Any) -> Planted:
    spec = Planted(variant="jpa-reader", levels={"CONDITION": condition}, scale=scale, unserved=unserved)
    return _read(spec, session_load=replace(SESSIONS, **load))


POOLS = {"boot": "10", "boot-overload": "10", "driver": "100", "far-too-large": "4500", "formula": ""}


def sessions(again: float | None = None, **changes: Any) -> Report:
    """Five pools: the overload ends in time-outs, the largest in refusals. again: of the same pool as boot."""
    specs = [
        _session("boot", 1.0),
        _session(
            "boot-overload", 10.0, unserved=240, rate_per_s=70.200001, requests=8424, failed_requests=277,
            failed_logins=12, failed_sessions=240, timed_out=277, by_error={"request timed out": 277},
        ),
        _session("driver", 1.2),
        _session("far-too-large", 3.0, unserved=5, failed_requests=208, by_error={"HTTP 500": 208}),
        _session("formula", 0.4),
    ]  # fmt: skip
    specs[3].changes["accept_latency_ms"] = replace(latency(3.0), p99=None)
    settings = [{"POOL_SIZE": size} if size else {} for size in POOLS.values()]
    if again is not None:
        specs.append(_session("boot-idle-0", again))
        settings.append({"POOL_SIZE": "10"})
    return _page(specs, settings, **{"suite": "pool", **changes})


POINTS = {  # condition, users: TPS, shares of application and database, wait and time with a connection
    ("pool-10", "20"): (800.0, 0.55, 0.25, 0.05, 0.8),
    ("pool-10", "50"): (810.0, 0.45, 0.20, 12.0, 0.8),
    ("pool-50", "20"): (900.0, 0.57, 0.24, 0.01, 0.9),
    ("pool-50", "50"): (905.0, 0.58, 0.25, 0.02, 0.9),
    ("pool-10-half", "20"): (470.0, 0.24, 0.15, 0.5, 1.5),
    ("pool-10-half", "50"): (480.0, 0.24, 0.15, 20.0, 1.5),
}


def points(failing: tuple[str, str] | None = None, **changes: Any) -> Report:
    """Pools and users; with half of a processor the application is at its quota. failing: a cell with errors."""
    specs, settings = [], []
    for key, (per_s, application, database, wait_ms, with_ms) in POINTS.items():
        unserved = PLANNED // 10 if key == failing else 0
        levels = dict(zip(("CONDITION", "VIRTUAL_USERS"), key, strict=True))
        spec = cell(levels, 1, per_s, variant="jpa-reader", unserved=unserved)
        shares = {"jpa-reader": application, "postgres": database, "nginx": 0.05}
        read = {
            "wait_ms_mean": wait_ms,
            "held_ms_mean": with_ms,
            "cpu_shares": shares,
            "slow": 7,
            "slow_seconds": 3,
        }
        specs.append(_read(spec, read=read))
        half = {"APPLICATION_CPUS": "0.5"} if key[0].endswith("half") else {}
        settings.append({"POOL_SIZE": key[0].split("-")[1], "VIRTUAL_USERS": key[1], **half})
    return _page(specs, settings, **{"suite": "closed", **changes})


FEED = {
    "per-parent": (200.0, 6.0),
    "by-key": (240.0, 6.0),
    "denormalised": (250.0, 6.0),
    "two-queries": (400.0, 2.0),
}


def feed(failing: str = "", **changes: Any) -> Report:
    """Strategies with their statements. failing: one with errors."""
    specs = []
    for strategy, (per_s, statements) in FEED.items():
        unserved = PLANNED // 10 if strategy == failing else 0
        spec = cell({"FEED_STRATEGY": strategy}, 1, per_s, variant="jpa-reader", unserved=unserved)
        specs.append(_read(spec, read={"statements_per_request": statements, "rows_per_request": 55.0}))
    return _page(specs, [{}] * len(specs), **{"suite": "feed", **changes})
