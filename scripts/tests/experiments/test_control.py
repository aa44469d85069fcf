"""What the last A/A control says about the next suite: the smallest difference it can detect."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from experiments.test_engine import planned, run
from experiments.toy import Toy
from writepath.experiments import control, registry
from writepath.records.cell import load_cell

if TYPE_CHECKING:
    from pathlib import Path

    from writepath.records.index import Index


@pytest.fixture(autouse=True)
def toy(monkeypatch: pytest.MonkeyPatch) -> Toy:
    kind = Toy()
    monkeypatch.setitem(registry.KINDS, "toy", kind)
    return kind


def with_control(tmp_path: Path, toy: Toy) -> Index:
    asked = planned(tmp_path, "a", "b", repetitions=2)
    return run(replace(asked, suite=replace(asked.suite, baseline=asked.variants[0])), toy)[1]


def test_a_host_without_a_control_is_unknown(tmp_path: Path, toy: Toy) -> None:
    _, index = run(planned(tmp_path, "a"), toy)
    host = load_cell(tmp_path / "results" / "latest" / index.cells[0].folder).host
    assert host is not None
    assert control.statement(tmp_path, host, index) == control.UNKNOWN


def test_the_statement_is_the_arithmetic_of_what_is_kept_for_this_host_and_runtime(
    tmp_path: Path, toy: Toy
) -> None:
    index, state = with_control(tmp_path, toy), tmp_path / ".writepath"
    host = load_cell(tmp_path / "results" / "latest" / index.cells[0].folder).host
    assert host is not None
    kept = json.loads((state / control.FILE).read_text(encoding="utf-8"))
    assert (kept["pairs"][0]["baseline"], kept["pairs"][0]["blocks"]) == ("a", 2)
    kept["pairs"][0]["spreads"] = {"p95": 0.05}
    (state / control.FILE).write_text(json.dumps(kept), encoding="utf-8")
    said = control.statement(state, host, replace(index, repetitions=10))
    assert said.startswith("smallest detectable difference with 10 blocks on this host: 5.7 % in p95")
    assert f"from the A/A control of a, 2 blocks of short, {index.stamp}" in said
    assert "with fewer than" in control.statement(state, host, index)
    assert control.statement(state, replace(host, cores=host.cores + 1), index) == control.UNKNOWN
    assert control.statement(state, host, replace(index, runtime="docker")) == control.UNKNOWN
    (state / control.FILE).write_text("torn", encoding="utf-8")
    assert control.statement(state, host, index) == control.UNKNOWN
