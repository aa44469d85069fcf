"""Requests, trials and cells of a faults suite, planted."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from planted_index import entry_of, index_of, record_of
from test_verdict import REQUESTS
from writepath.analysis import audit
from writepath.analysis.evidence import Evidence
from writepath.analysis.faults import Sent, derive_faults, tables_of
from writepath.records.base import to_data
from writepath.records.faults import FaultFacts, FaultParams, FaultResult, Injection, Trial
from writepath.records.index import VariantRecord, cell_name
from writepath.report.data import CellData, SuiteData

ORIGIN_US = 1_700_000_000_000_000
RATE_PER_S = 50.0
STEP_US = round(1_000_000 / RATE_PER_S)
MEMBERS = ("lost", "vanished", "stranded", "corrupted", "duplicated", "recovered")
READ = replace(audit.not_read(), verdict="PASS", unread=())
TRIAL = Trial(
    number=1,
    effective=True,
    recovered_after_seconds=2.0,
    exposed=100,
    taken_along=0,
    errors={},
    **dict.fromkeys(MEMBERS, 0),
)


def at(second: float) -> int:
    """The sequence sent at that second."""
    return int(second * RATE_PER_S)


def sent(seconds: float, failed: Mapping[range, int] | None = None, **members: tuple[int, ...]) -> Sent:
    """Requests at a steady rate, each answered 201 after 5 ms but the failed ones. members: sequences of a class."""
    sequence = np.arange(int(seconds * RATE_PER_S))
    status = np.full(len(sequence), 201)
    for sequences, code in (failed or {}).items():
        status[list(sequences)] = code
    return Sent(
        at_us=ORIGIN_US + sequence * STEP_US,
        answered_us=ORIGIN_US + sequence * STEP_US + 5000,
        acknowledged=status == 201,
        status=status,
        error_code=np.zeros(len(sequence), np.int64),
        classes={name: np.isin(sequence, members.get(name, ())) for name in MEMBERS},
    )


def injection(number: int, at_s: float, lasts_s: float = 1.0, **changes: Any) -> Injection:
    injected_us, healed_us = (ORIGIN_US + round(second * 1_000_000) for second in (at_s, at_s + lasts_s))
    struck = Injection(
        number=number,
        steady_seconds=1.0,
        lasts_seconds=lasts_s,
        injected_at_us=injected_us,
        healed_at_us=healed_us,
        proof="replaced by a new process",
    )
    return replace(struck, **changes)


def evidence(*trials: Trial, **changes: Any) -> Evidence:
    """Of a cell; changes: of its facts."""
    facts = FaultFacts(
        fault="kill-database",
        words="kill -9 of the database",
        weakened=False,
        rate_per_s=RATE_PER_S,
        trials_asked=len(trials),
        parallel=1,
        injections=tuple(injection(trial.number, 20.0 * trial.number) for trial in trials),
        requests=REQUESTS,
        audit=READ,
    )
    numbered = [replace(trial, number=number) for number, trial in enumerate(trials, 1)]
    return Evidence(tables=tables_of(numbered), facts=to_data(replace(facts, **changes)))


def result(*trials: Trial, **changes: Any) -> FaultResult:
    return derive_faults(evidence(*trials, **changes))


TITLES = {"jpa": "JPA", "jpa-async-commit": "JPA, asynchronous commit", "rabbitmq-jpa": "RabbitMQ + JPA"}


def suite(*cells: tuple[str, FaultResult], **changes: Any) -> SuiteData[FaultResult]:
    """Cells by variant; a variant whose name ends in -commit is a weakened control."""
    found, blocks = [], dict[str, int]()
    for name, own in cells:
        levels = {"FAULT": own.fault}
        key = cell_name(name, levels)
        blocks[key] = blocks.get(key, 0) + 1
        fields: dict[str, Any] = {
            "kind": "faults",
            "suite": "faults",
            "levels": levels,
            "verdict": own.verdict,
        }
        record = record_of(_variant(name), block=blocks[key], **fields)
        found.append(CellData(entry=entry_of(record), record=record, result=own, evidence=None))
    variants = [_variant(name) for name in dict.fromkeys(name for name, _ in cells)]
    params = to_data(FaultParams(rate_per_s=RATE_PER_S, trials={}))
    entries = [one.entry for one in found]
    fields = {"kind": "faults", "suite": "faults", "title": "Faults under load", **changes}
    index = index_of(entries, variants, params, cells=tuple(entries), **fields)
    return SuiteData(index=index, cells=tuple(found))


def _variant(name: str) -> VariantRecord:
    twin = "jpa" if name.endswith("-commit") else None
    return VariantRecord(
        name=name,
        title=TITLES.get(name, name),
        family="jpa",
        acknowledges=f"{name} flushed",
        profiles=(),
        settings={},
        naive_twin_of=twin,
    )
