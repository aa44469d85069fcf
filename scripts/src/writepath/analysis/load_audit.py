"""The audit of a load, from the counts of its aggregates: as `audit.compare`, which looks at each sequence."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from writepath.analysis import offenders
from writepath.analysis.audit_classes import (
    CLASSES,
    COMBINATIONS,
    NAMED,
    SIZES,
    Counts,
    Found,
    audited,
    combinations,
    not_read,
)
from writepath.analysis.load_rows import column_of, whole
from writepath.load.plan import encode_id
from writepath.records import Audit, Offenders

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import pyarrow as pa

    from writepath.analysis.stats import Ints
    from writepath.records import Requests
    from writepath.records.load_facts import LoadFacts

NEVER_SENT = "unexpected"


def of(
    tables: Mapping[str, pa.Table],
    scalars: Mapping[str, int],
    unexpected: pa.Table,
    facts: LoadFacts,
    requests: Requests,
) -> Audit:
    """Both reads, offenders, sums and verdict. unexpected: stored rows that no request sent."""
    seconds = round(facts.audit_seconds, 3)
    if not facts.reads:
        return replace(not_read(*facts.unread), seconds=seconds)
    tally = _tally(tables["tally"])
    sequences = np.unique(whole(unexpected.filter(column_of(unexpected, "sequence").is_valid()), "sequence"))
    foreign = tuple(dict.fromkeys(column_of(unexpected, "foreign_id").drop_null().to_pylist()))
    never_sent = offenders.of(sequences, foreign, lambda sequence: encode_id(facts.run_id, sequence))
    first, second = (int((whole(unexpected, "read") == read).sum()) for read in (1, 2))
    rows = (scalars["rows_first"] + first, scalars["rows_second"] + second)
    read_again = bool(scalars["read_again"]) and len(facts.reads) > 1
    listed = dict(_listed(tables["offenders"], tally, facts.run_id))
    if never_sent.count:
        listed[NEVER_SENT] = never_sent
    found = Found(
        tally=tally,
        requests=requests.started,
        rows=rows if read_again else (rows[0], rows[0]),
        never_sent=never_sent.count,
        read_again=read_again,
        listed={name: listed[name] for name in NAMED if name in listed},
    )
    counts = Counts(
        planned=requests.planned,
        dropped=requests.dropped,
        reads=facts.reads,
        suppressed_duplicates=facts.suppressed_duplicates,
        unread=facts.unread,
        reads_required=facts.reads_required,
    )
    return replace(audited(found, counts), seconds=seconds)


def _tally(table: pa.Table) -> Ints:
    """Requests by combination."""
    number = combinations(**{name: whole(table, name) for name in SIZES})
    tally: Ints = np.bincount(number, weights=whole(table, "count"), minlength=COMBINATIONS).astype(np.int64)
    return tally


def _listed(table: pa.Table, tally: Ints, run_id: str) -> Iterator[tuple[str, Offenders]]:
    """By class, its members in short; how many there are is in the tally."""
    names = np.array(column_of(table, "name").to_pylist(), dtype=object)
    for name in NAMED:
        firsts, lasts = (whole(table, column)[names == name] for column in ("first", "last"))
        if len(firsts):
            own = np.concatenate(
                [
                    np.arange(a, min(b, a + offenders.FIRST_IDS) + 1)
                    for a, b in zip(firsts, lasts, strict=True)
                ]
            )
            yield (
                name,
                Offenders(
                    count=int(tally[CLASSES[name]].sum()),
                    intervals=offenders.in_words(firsts, lasts),
                    first_ids=tuple(encode_id(run_id, s) for s in own[: offenders.FIRST_IDS].tolist()),
                ),
            )
