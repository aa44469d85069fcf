"""A whole suite of searches ends on real stores, stopped and resumed, with every answer right."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import jsonschema
import psutil
import pytest
from rich.console import Console

from writepath import commands
from writepath.analysis import raw
from writepath.analysis.step_verdict import Judgement
from writepath.capacity import hold, search
from writepath.config import registry
from writepath.config.registry import Phase, Scenario, Suite
from writepath.experiments.shared import INTERRUPTED
from writepath.load import dataset, ledger
from writepath.measure import visible
from writepath.progress import Progress
from writepath.queries import beside, rounds, suite
from writepath.queries.suite import QueriesPlan
from writepath.records import Code
from writepath.records.queries import load_read, load_suite, save_read
from writepath.runtime.choose import choose

if TYPE_CHECKING:
    from writepath.analysis.step_verdict import Evidence
    from writepath.records.queries import Read
    from writepath.runtime.base import Runtime

pytestmark = [pytest.mark.native, pytest.mark.timeout(900)]  # three starts of a stack, on a busy machine
ROOT = Path(__file__).resolve().parents[3]
NAMES = ("jpa-bigram", "elasticsearch-1s0r-bigrams")
KEYWORDS = ("영화", "스토리", "감동", "재미")
DOCS = 2_000
SECONDS = 3.0
PHASE = Phase(name="hold", seconds=SECONDS, from_per_s=20, to_per_s=30)


class Impatient(Progress):
    """Presses Ctrl-C when the second reading begins its first load step."""

    def phase(self, name: str) -> None:
        super().phase(name)
        if name.startswith("step 1,") and self.done == 1:
            raise KeyboardInterrupt


def strict(evidence: Evidence) -> Judgement:
    """Whatever is broken fails; nothing else does, however small and slow this machine."""
    verdict = "fail" if evidence.broken else "pass"
    return Judgement(verdict=verdict, burst=False, reasons=evidence.broken, generator_bound=False)  # type: ignore[arg-type]


@pytest.fixture
def runtime(monkeypatch: pytest.MonkeyPatch) -> Runtime:
    monkeypatch.setattr(hold, "judge", strict)
    monkeypatch.setattr(search, "REQUESTS", 1)
    monkeypatch.setattr(beside, "REQUESTS", 1)
    monkeypatch.setattr(beside, "WARM_UP_S", 1.0)
    for judged in ("reasons", "slower"):  # noise does not matter here
        monkeypatch.setattr(beside, judged, lambda *_: ())
    monkeypatch.setattr(rounds, "WARM_UP_S", 1.0)
    monkeypatch.setattr(visible, "QUIET_S", 1.0)
    chosen = choose(ROOT, "native", print)
    chosen.reap(print)
    return chosen


def plan(root: Path, *, resumed: bool = False) -> QueriesPlan:
    known = registry.load(ROOT)
    variants = tuple(known.variant(name) for name in NAMES)
    return QueriesPlan(
        root=root,
        state=root / ".writepath",
        suite=Suite(
            name="search",
            title="Search",
            scenario=Scenario(name="queries", script="k6/scenarios/queries.js", phases=(PHASE,)),
            repetitions=1,
            variants=variants,
            kind="search",
        ),
        variants=variants,
        repetitions=1,
        seed=1,
        params=None,
        settings={},
        dataset=dataset.generate(1, DOCS),
        code=Code(commit="0" * 40, dirty=False),
        slo_ms=1000.0,
        hold_seconds=SECONDS,
        compared=False,
        documents=DOCS,
        rounds=2,
        keywords=KEYWORDS,
        resumed=resumed,
    )


def test_two_paths_hold_the_same_posts_find_the_same_and_carry_searches_beside_writes(
    tmp_path: Path, runtime: Runtime, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / ".writepath").mkdir()
    (tmp_path / "k6").symlink_to(ROOT / "k6", target_is_directory=True)
    asked, said = plan(tmp_path), io.StringIO()
    runtime.prepare(asked.variants, print)
    code, folder = suite.run(asked, runtime, Impatient(console=Console(file=said, width=200)))
    assert (code, load_suite(folder).status) == (INTERRUPTED, "aborted"), said.getvalue()
    assert not psutil.Process().children(recursive=True)
    stopped = load_suite(folder).blocks[0][1]
    assert load_read(folder / stopped / "block-01").rounds  # what there was is kept

    code, again = suite.run(
        plan(tmp_path, resumed=True), runtime, Progress(console=Console(file=said, width=200))
    )
    print(said.getvalue())
    index = load_suite(folder)
    assert (code, again, index.status, len(index.reads)) == (0, folder, "finished", 2)
    assert (folder / stopped / "block-01-replaced-1").is_dir()
    reads = {line.variant: load_read(folder / line.folder) for line in index.reads}
    assert {name: read.search_index for name, read in reads.items()} == {
        "jpa-bigram": "bigram",
        "elasticsearch-1s0r-bigrams": "bigrams",
    }
    for read in reads.values():
        _every_answer_was_right(read, folder)
    assert len({read.loading.digest for read in reads.values() if read.loading}) == 1
    assert len({read.hits for read in reads.values()}) == 1
    _made_again_beside_writes(folder / "jpa-bigram" / "block-01", tmp_path, runtime)
    commands._show_tables(tmp_path, folder)  # noqa: SLF001 - what a command does last must not fail on such a folder
    assert "Traceback" not in capsys.readouterr().out


def _made_again_beside_writes(place: Path, root: Path, runtime: Runtime) -> None:
    """Noise is planted in its searches beside writes: RESUME makes them alone, in a new store, and all else stays."""
    before = load_read(place)
    assert before.beside is not None
    save_read(replace(before, beside=replace(before.beside, noise=("planted",))), place)
    said = io.StringIO()
    code, folder = suite.run(
        plan(root, resumed=True), runtime, Progress(console=Console(file=said, width=200))
    )
    after = load_read(place)
    assert (code, place.is_relative_to(folder)) == (0, True), said.getvalue()
    _every_answer_was_right(after, folder)
    assert replace(after, beside=None) == replace(before, beside=None)
    assert after.beside is not None
    assert (after.beside.noise, after.beside.host, after.beside.code) == ((), before.host, before.code)
    for name in (beside.ALONE, beside.BESIDE, beside.WRITES, beside.LOGS):
        assert (place / name).is_dir()
        assert (place / f"{name}-replaced-1").is_dir()


def _every_answer_was_right(read: Read, folder: Path) -> None:
    place = folder / read.variant / "block-01"
    assert (read.outcome, read.error, read.mode) == ("finished", None, "substring")
    schema = json.loads((ROOT / "schemas" / "read.schema.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator(schema).validate(
        json.loads((place / "read.json").read_text(encoding="utf-8"))
    )
    assert read.loading is not None
    assert read.loading.documents == DOCS
    assert read.loading.store_bytes > 0
    assert read.loading.parts_bytes
    assert [one.keyword for one in read.hits] == list(KEYWORDS)
    assert all(one.explained and one.found == one.expected > 0 for one in read.hits)
    assert len(read.rounds) == 2 * 2 * len(KEYWORDS)
    assert {one.cold for one in read.rounds if one.round == 1} == {True}
    assert read.capacity is not None
    assert (read.capacity.last_pass_per_s, read.capacity.at_least) == (PHASE.to_per_s, True)
    for made in read.holds:
        taken = ledger.read(place / f"hold-{made.number:02d}" / ledger.FILE)
        assert taken.by_error() == {}
        assert made.requests.acknowledged == made.requests.planned
    found = read.beside
    assert found is not None
    assert found.writes_acknowledged > 0
    assert found.writes_found == found.writes_acknowledged
    assert found.wrong_answers == 0
    assert (found.warm, found.warm_up_seconds) == (True, 2.0)
    assert not [path for path in place.iterdir() if path.name.startswith(beside.WARM_UP)]
    assert (place / beside.WRITES / raw.VISIBLE_FILE).is_file()
