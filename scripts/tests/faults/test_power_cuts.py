"""Power cuts by the command as a user types it; where a machine cannot do them the cell is UNKNOWN, with the reason."""

from dataclasses import replace
from pathlib import Path

import pytest

import own_checkout
from experiments.planted_cell import bench, cell_run
from lifecycle import fakes
from own_checkout import Command
from writepath.analysis.evidence import load_facts
from writepath.experiments import read
from writepath.experiments.base import Session
from writepath.experiments.faults.kind import FaultExperiment
from writepath.experiments.faults.measure import measure
from writepath.records.faults import FaultParams
from writepath.runtime.native import NativeRuntime

BOUND_S = 900  # a busy and slow host took eight minutes for a pair
EXIT_UNKNOWN = 3
REASON = "no loop device here"
# By store, who is correct and who must lose.
PAIRS = {
    "database": ("jpa", "jpa-no-fsync"),
    "broker": ("rabbitmq-jpa", "rabbitmq-jpa-classic"),
    "index": ("elasticsearch-1s0r", "elasticsearch-1s0r-async"),
}
# By store, where not 1: one cut may come just after the flush that the control does every 5 s.
CUTS = {"index": 2}


@pytest.mark.parametrize("weakened", [False, True])
def test_a_cut_that_the_machine_cannot_do_is_unknown_with_the_reason(weakened: bool, tmp_path: Path) -> None:
    runtime, kind = fakes.FakeRuntime(powerless=REASON), FaultExperiment()
    made = bench(tmp_path, runtime)
    variant = replace(fakes.variant(), naive_twin_of="other" if weakened else None)
    run = cell_run(made, of=variant, params=FaultParams(rate_per_s=50.0, trials={"jpa": 6}))
    run.cell = replace(run.cell, levels={"FAULT": "power-cut-database"})
    with Session(made) as session:
        measure(run, session)
    assert runtime.events == []  # no stack, no load
    result = kind.derive(kind.reduce(run.folder, made.host))
    assert (result.status, result.reasons, result.trials) == ("unknown", (REASON,), 0)
    assert (result.verdict.status, result.verdict.exit_code) == ("unknown", EXIT_UNKNOWN)
    assert kind.line(result) == f"unknown: {REASON}"


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return own_checkout.copied(tmp_path_factory.mktemp("power-cuts"))


@pytest.mark.native
@pytest.mark.timeout(BOUND_S + 300)
@pytest.mark.parametrize("store", PAIRS)
def test_what_a_201_stands_for_outlives_a_power_cut_and_what_a_control_has_not_flushed_does_not(
    store: str, checkout: Path
) -> None:
    """Where this machine cannot cut it, both cells say so."""
    (correct, weakened), cuts = PAIRS[store], CUTS.get(store, 1)
    asked = {
        "FAULT": f"power-cut-{store}",
        "VARIANTS": f"{correct},{weakened}",
        "TRIALS": f"{cuts}",
        "JOBS": "2",
        "RERUNS": "0",
    }
    with Command(checkout, "bench-faults", **asked) as command:
        code = command.ended(BOUND_S)
        said = command.said()
    data = read.raw((checkout / "results/latest").resolve())
    results = {cell.record.variant: cell.result for cell in data.cells}
    assert results.keys() == {correct, weakened}, said
    if reason := NativeRuntime(checkout).why_no_power_cut():
        print(f"no power cut on this machine: {reason}")
        assert code == EXIT_UNKNOWN, said
        assert {one.status for one in results.values() if one} == {"unknown"}, said
        return
    for cell in data.cells:
        assert cell.result is not None, said
        assert cell.problems == ()
        assert cell.result.effective == cuts, said
        proofs = [
            cut["proof"] for cut in load_facts(checkout / "results/latest" / cell.entry.folder)["injections"]
        ]
        assert len(proofs) == cuts
        assert all("one that was written and not flushed is not" in proof for proof in proofs)
    kept, lost = results[correct], results[weakened]
    assert kept is not None
    assert lost is not None
    assert kept.status in ("held", "unknown"), said  # how soon it recovers says little while another one runs
    assert (kept.audit.verdict, kept.losing) == ("PASS", 0)
    assert lost.status == "loses", said
