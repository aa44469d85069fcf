"""Does a reading whose searches lie end with what is wrong, keep what there is, and measure nothing more?"""

from __future__ import annotations

import io
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import pytest
from rich.console import Console

from lifecycle.fakes import variant
from lifecycle.unharmed import Unharmed
from queries.fake_posts import FakePosts, Lies
from writepath.config.registry import Phase, Scenario
from writepath.load.dataset import generate
from writepath.measure import host
from writepath.measure.bench import Bench
from writepath.measure.host import CanaryCage
from writepath.progress import Progress
from writepath.queries import rounds
from writepath.queries.beside import set_aside
from writepath.queries.corpus import Corpus
from writepath.queries.read_run import ReadSpec, beside_again, execute
from writepath.records import Code
from writepath.records.capacity import Bracket
from writepath.records.queries import load_read, save_read

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from writepath.config.registry import Variant
    from writepath.records.queries import Read
    from writepath.runtime.base import Usage

DATASET = generate(1, 200)
PHASE = Phase(name="hold", seconds=5, from_per_s=2, to_per_s=4000)


@dataclass(kw_only=True)
class Stack(Unharmed):
    fake: FakePosts
    events: list[str]
    components: Sequence[str] = ("app",)
    stores: Sequence[str] = ("app",)

    def __post_init__(self) -> None:
        self.base_url = self.fake.base_url

    def inspector_urls(self, _service: str) -> Sequence[str]:
        return (self.fake.inspector_url,)

    def usage(self) -> Mapping[str, Usage]:
        return {}

    def lost_components(self) -> Sequence[str]:
        return ()

    def save_logs(self, folder: Path) -> None:
        folder.mkdir()
        self.events.append("logs")

    def effective_settings(self) -> Mapping[str, Mapping[str, str]]:
        return {}

    def terminate(self, component: str, name: str | None = None) -> None:  # noqa: ARG002 - one process
        self.events.append(f"end {component}")

    def revive(self, component: str) -> None:
        self.events.append(f"start {component}")

    def is_ready(self, component: str) -> bool:  # noqa: ARG002 - one component
        return True


@dataclass(kw_only=True)
class Runtime:
    lies: Lies
    events: list[str] = field(default_factory=list)
    name: str = "fake"

    @contextmanager
    def start(self, _variant: Variant, **_: object) -> Iterator[Stack]:
        with FakePosts(lies=self.lies) as fake:
            yield Stack(fake=fake, events=self.events)
        self.events.append("stop")

    def versions(self, _variant: Variant) -> Mapping[str, str]:
        return {}

    def load_generator(self) -> Sequence[str]:
        raise AssertionError("no load after a wrong answer")


@pytest.fixture(autouse=True)
def no_warm_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rounds, "WARM_UP_S", 0.0)


def asked(tmp_path: Path, runtime: Runtime, said: io.StringIO | None = None) -> tuple[ReadSpec, Bench]:
    bench = Bench(
        runtime=runtime,  # type: ignore[arg-type]
        progress=Progress(console=Console(file=said or io.StringIO(), width=300)),
        cage=CanaryCage(folder=tmp_path),
        host=host.facts(tmp_path),
        content=tmp_path / "content.json",
        pids=tmp_path,
        root=tmp_path,
    )
    spec = ReadSpec(
        suite="search",
        variant=variant(),
        scenario=Scenario(name="queries", script="k6/scenarios/queries.js", phases=(PHASE,)),
        block=1,
        position=1,
        again=False,
        seed=1,
        slo_ms=500.0,
        hold_seconds=5.0,
        overrides={},
        dataset=DATASET,
        code=Code(commit="0" * 40, dirty=False),
        folder=tmp_path / "block-01",
        corpus=Corpus.of(DATASET, 1_000, ("영화", "감동"), 1),
        rounds=2,
    )
    return spec, bench


def reading(tmp_path: Path, lies: Lies) -> tuple[Read, Runtime]:
    runtime = Runtime(lies=lies)
    spec, bench = asked(tmp_path, runtime)
    read = execute(spec, bench)
    assert load_read(spec.folder) == read
    return read, runtime


@pytest.mark.parametrize(
    ("digest", "words"),
    [
        (None, "its response time would be that of a different search"),
        ("f" * 64, "the store has different posts now"),
    ],
)
def test_searches_beside_writes_that_cannot_be_made_again_leave_the_reading_as_it_was(
    tmp_path: Path, digest: str | None, words: str
) -> None:
    made, _ = reading(tmp_path, Lies(oldest_first=True))
    assert made.loading is not None
    loaded = made.loading if digest is None else replace(made.loading, digest=digest)
    found = replace(
        made,
        outcome="finished",
        loading=loaded,
        capacity=Bracket(last_pass_per_s=40.0, first_fail_per_s=41.0, at_least=False, holds=5),
    )
    said, runtime = io.StringIO(), Runtime(lies=Lies(miscount=1))
    spec, bench = asked(tmp_path, runtime, said)
    set_aside(spec.folder)
    save_read(found, spec.folder)
    assert beside_again(found, spec, bench) == found == load_read(spec.folder)
    assert "searches with writes were not rerun" in said.getvalue()
    assert words in said.getvalue()
    assert runtime.events == ["logs", "stop"]


def test_a_total_that_is_not_the_oracles_ends_the_reading_before_any_round(tmp_path: Path) -> None:
    read, runtime = reading(tmp_path, Lies(miscount=1))
    assert read.outcome == "failed"
    assert "its response time would be that of a different search" in (read.error or "")
    assert read.loading is not None
    assert (read.search_index, read.mode, read.rounds, read.holds) == ("none", "substring", (), ())
    assert runtime.events == ["logs", "stop"]


def test_posts_in_a_wrong_order_end_the_reading_and_its_rounds_are_kept(tmp_path: Path) -> None:
    read, runtime = reading(tmp_path, Lies(oldest_first=True))
    assert read.outcome == "failed"
    assert "searches found the wrong posts" in (read.error or "")
    assert len(read.rounds) == 2 * 2 * 2
    assert [one.explained for one in read.hits] == [False, False]
    assert read.holds == ()
    assert runtime.events == ["end app", "start app", "logs", "stop"]


def test_a_bulk_load_that_loses_a_post_is_not_searched(tmp_path: Path) -> None:
    read, _ = reading(tmp_path, Lies(lose=frozenset({3})))
    assert (read.outcome, read.loading, read.rounds) == ("failed", None, ())
    assert "1 missing" in (read.error or "")


def test_a_store_that_does_not_say_how_it_searches_is_not_searched(tmp_path: Path) -> None:
    read, _ = reading(tmp_path, Lies(search_index=None))
    assert (read.outcome, read.search_index) == ("failed", "unknown")
    assert "does not name the search index" in (read.error or "")


@pytest.mark.parametrize(("index", "mode"), [("words", "native"), ("bigrams", "substring")])
def test_only_words_are_searched_for_natively(tmp_path: Path, index: str, mode: str) -> None:
    read, _ = reading(tmp_path, Lies(search_index=index, refuse=True))
    assert (read.search_index, read.mode) == (index, mode)
