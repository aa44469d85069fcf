"""Derives every figure of the recorded raw runs in `raw/<kind>` from their raw files.

`figures.json` next to them has what the code of commit 9f69ca1 recorded of the same runs: the records as they were
saved (`records`, by the cell's folder) and the figures of every table (`tables`). What only the running system knew
(canaries, exit codes, what the host withheld) is taken from there, in kind `load` from facts.json. The raw files were
converted once, when their formats changed: times to whole microseconds, exactly.
"""

from __future__ import annotations

import dataclasses
import json
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from golden.published import Key, of_tables
from writepath.analysis import figures as measured
from writepath.analysis import raw
from writepath.analysis.audit import Counts
from writepath.analysis.noise import Withheld
from writepath.analysis.reads import audited
from writepath.analysis.stats import US_PER_MS, US_PER_S
from writepath.capacity import elasticsearch_load, hold, one_read, overload, perf_test, pgbench
from writepath.capacity.ceiling_tool import WARM_UP_SECONDS
from writepath.capacity.rig import Loaded
from writepath.capacity.search import Step
from writepath.config.registry import Phase
from writepath.experiments import read
from writepath.experiments.registry import kind_of
from writepath.faults.evaluate import by_trial
from writepath.faults.judge import judge
from writepath.faults.schedule import Moment
from writepath.faults.trials import Struck, trials
from writepath.load import ledger as ledgers
from writepath.load.k6 import LoadResult
from writepath.load.plan import arrival_plan
from writepath.measure import raw_audit
from writepath.measure.drive import Driven
from writepath.records import Canary, Reading
from writepath.records.base import to_data
from writepath.report import capacity_page, capacity_raw, fault_tables, faults, queries_page, queries_raw
from writepath.report.capacity_figures import capacity_figures
from writepath.report.queries_figures import queries_figures

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from golden.published import Figures
    from writepath.analysis.audit import Stored
    from writepath.load.ledger import Ledger
    from writepath.load.plan import ArrivalPlan
    from writepath.records import Audit

RAW = Path(__file__).with_name("raw")
KINDS = ("load", "capacity", "search", "faults")
Plain = dict[str, Any]


@cache
def golden(kind: str) -> Plain:
    """figures.json of a kind."""
    found: Plain = json.loads((RAW / kind / "figures.json").read_text(encoding="utf-8"))
    return found


def golden_tables(kind: str) -> Figures:
    """The tables' figures in it."""
    return {
        Key(kind, table, row, column): value
        for table, rows in golden(kind)["tables"].items()
        for row, cells in rows.items()
        for column, value in cells.items()
    }


def tables_of(kind: str) -> Figures:
    """The same, derived."""
    folder = RAW / kind
    match kind:
        case "load":
            built: Sequence[Any] = kind_of("load").report(read.raw(folder)).tables
        case "capacity":
            built = capacity_page.tables(capacity_figures(capacity_raw.read(folder)))
        case "search":
            built = queries_page.tables(queries_figures(queries_raw.read(folder), None))
        case _:
            matrix = faults.read(folder)
            order = faults.order(matrix.cells)
            built = (*fault_tables.tables(matrix, order), fault_tables.evidence(matrix, order))
    return of_tables(kind, built)


def load_cell(cell: str) -> Plain:
    """The result of a fixed load."""
    found = {one.entry.name: one for one in read.raw(RAW / "load").cells}[cell.partition("/")[0]]
    assert not found.problems
    return _plain(found.result)


def fault_cell(cell: str) -> Plain:
    """Requests, audit, trials and status of a cell of faults."""
    folder, record = RAW / "faults" / cell, golden("faults")["records"][cell]
    ledger = ledgers.read(folder / ledgers.FILE)
    recomputed = raw_audit.recompute(folder)
    planned, dropped = record["requests"]["planned"], record["requests"]["dropped"]
    struck = [
        Struck(
            moment=Moment(
                number=one["number"],
                steady_seconds=one["steady_seconds"],
                lasts_seconds=one["lasts_seconds"],
                choice=0,
            ),
            injected_us=round(one["injected_at_ms"] * US_PER_MS),
            healed_us=round(one["healed_at_ms"] * US_PER_MS),
            proof=one["proof"],
        )
        for one in record["trials"]
    ]
    members = by_trial(recomputed.audit, recomputed.comparison.members)
    found = trials(ledger, members, struck, record["rate_per_s"], _last_answer_us(ledger))
    wanted, alone = record["trials_wanted"], record["side_by_side"] == 1
    status, reasons = judge(found, recomputed.audit, wanted=wanted, naive=False, alone=alone)
    return _plain(
        {
            "requests": measured.requests(planned, ledger, dropped),
            "audit": recomputed.audit,
            "order": measured.order(
                ledger, raw.read_stored(folder / raw.STORED_FILE), record["order"]["redelivered"]
            ),
            "trials": found,
            "status": status,
            "reasons": reasons,
        }
    )


def step(kind: str, cell: str, number: int) -> Plain:
    """A load step of a capacity run or of a search run."""
    record = step_record(kind, cell, number)
    folder = RAW / kind / cell / f"hold-{number:02}"
    one = Step(kind=record["kind"], rate_per_s=record["rate_per_s"], seconds=record["seconds"])
    slo_ms = golden(kind)["slo_ms"]
    loaded = _loaded(folder, hold.plan_of(one, slo_ms), record)
    made = hold.Made(
        step=one,
        number=number,
        slo_ms=slo_ms,
        cores=golden(kind)["records"][cell]["host"]["cores"],
        queue=False,
        started_at=0.0,
        writes=kind == "capacity",
        loaded=loaded,
        before=_canary(record["noise"]["before"]),
        after=_canary(record["noise"]["after"]),
    )
    if (folder / raw.STORED_FILE).is_file():
        stored = raw.read_stored(folder / raw.STORED_FILE)
        late_us = int(stored.durable_at_us.max()) - loaded.figures.answered_us
        audit = _one_read(loaded, stored)
        made = dataclasses.replace(
            made,
            stored=stored,
            drain_seconds=round(max(0, late_us) / US_PER_S, 3),
            audit=one_read.verdict(audit),
            offences=one_read.offences(audit),
        )
    found = _plain(hold.evaluate(made))
    del found["started_at"]  # the runner's clock
    return found


def overload_of(cell: str) -> Plain:
    """A capacity run's overload."""
    record = golden("capacity")["records"][cell]
    capacity_per_s = record["sustained"]["last_pass_per_s"]
    folder = RAW / "capacity" / cell / "overload"
    loaded = _loaded(folder, overload.plan_of(capacity_per_s), None)
    return _plain(overload.evaluate(capacity_per_s, loaded, slo_ms=record["slo_ms"], queue=False))


def beside_writes(cell: str) -> Plain:
    """Searches alone and with writes of a search run; how many writes a search found, only the store knew."""
    folder, record = RAW / "search" / cell, golden("search")["records"][cell]["beside"]
    alone, searched, written = (
        ledgers.read(folder / name / ledgers.FILE) for name in ("alone", "beside", "beside-writes")
    )
    seen = raw.read_visible(folder / "beside-writes" / raw.VISIBLE_FILE)
    visible_ms = measured.time_to_visible(written, seen).time_to_visible_ms
    assert visible_ms is not None

    def latency(ledger: Ledger, name: str) -> object:
        plan = arrival_plan(
            [Phase(name=name, seconds=record["seconds"], from_per_s=record[name], to_per_s=record[name])]
        )
        return measured.figures(plan, ledger, plan.planned - len(ledger.records)).planned_latency_ms

    both = (alone.records, searched.records)
    return _plain(
        {
            "alone_latency_ms": latency(alone, "search_rate_per_s"),
            "search_latency_ms": latency(searched, "search_rate_per_s"),
            "write_latency_ms": latency(written, "write_rate_per_s"),
            "visible_ms_median": visible_ms.median,
            "visible_ms_p95": visible_ms.p95,
            "writes_acknowledged": int((written.outcomes() == ledgers.Outcome.ACKNOWLEDGED).sum()),
            "wrong_answers": sum(int((one["error_code"] == ledgers.WRONG_TOTAL).sum()) for one in both),
        }
    )


def ceiling(cell: str, record: Mapping[str, Any]) -> Plain:
    """One ceiling from what the store's tool said. record: its entry, which names the file and the clients."""
    file, clients = RAW / "capacity" / cell / record["raw_file"], record["clients"]
    name = record["name"]
    if name.startswith("pgbench"):
        rows = 500 if name == "pgbench-batch" else 1
        found = pgbench.parse(file.read_text(encoding="utf-8"), file.name, clients, rows)
    elif name.startswith("rabbitmq"):
        rates = perf_test.parse(file.read_text(encoding="utf-8"), file.name, clients, WARM_UP_SECONDS)
        found = rates.consumed if name.endswith("consumed") else rates.published
    else:
        found = elasticsearch_load.parse(file, clients, record["seconds"])
    return _plain(found)


def steps() -> list[tuple[str, str, int]]:
    """The load steps whose raw files are kept: kind, folder of the cell, number."""
    return sorted(
        (kind, path.parent.relative_to(RAW / kind).as_posix(), int(path.name.removeprefix("hold-")))
        for kind in ("capacity", "search")
        for path in (RAW / kind).glob("*/*/hold-*")
    )


def step_record(kind: str, cell: str, number: int) -> Plain:
    """As it was saved."""
    found: Plain = next(one for one in golden(kind)["records"][cell]["holds"] if one["number"] == number)
    return found


def _loaded(folder: Path, plan: ArrivalPlan, record: Plain | None) -> Loaded:
    """A load as it ended. record: of its step; None: it has no facts of the running system."""
    ledger = ledgers.read(folder / ledgers.FILE)
    dropped = plan.planned - len(ledger.records)
    noise = {} if record is None else record["noise"]
    withheld = {name: noise.get(name) for name in ("steal_share", "throttled_share", "swapped_pages")}
    result = LoadResult(
        exit_code=0, meaning="ended normally", complete=True, ledger=folder, started=len(ledger.records)
    )
    samples = [
        raw.Sample(at_us=at, component=component, metric=metric, value=value)
        for (component, metric), of in raw.read_samples(folder / raw.SAMPLES_FILE).items()
        for at, value in zip(*(column.tolist() for column in of), strict=True)
    ]
    late = 0 if record is None else record["generator"]["samples_late"]
    return Loaded(
        run_id=json.loads((folder / "plan.json").read_text(encoding="utf-8"))["run_id"],
        plan=plan,
        driven=Driven(result=result, samples=samples, taken=0, late=late, began_at=0.0, ended_at=0.0),
        taken=ledger,
        dropped=dropped,
        figures=measured.figures(plan, ledger, dropped),
        withheld=Withheld(**withheld),
    )


def _one_read(loaded: Loaded, stored: Stored) -> Audit:
    """The audit of a step: one read after the drain."""
    reading = Reading(store_rows=len(stored.seq), left_in_queue=0)
    counts = Counts(planned=loaded.plan.planned, dropped=loaded.dropped, reads=(reading,))
    return audited(loaded.taken, (stored,), counts, loaded.run_id).audit


def _canary(fields: Mapping[str, Any] | None) -> Canary | None:
    return None if fields is None else Canary(**fields)


def _last_answer_us(ledger: Ledger) -> int:
    records = ledger.records[ledger.timed()]
    return int((records["start_us"] + records["blocked_us"] + records["duration_us"]).max())


def _plain(value: object) -> Plain:
    """A record as JSON has it."""
    found: Plain = to_data(value)
    return found
