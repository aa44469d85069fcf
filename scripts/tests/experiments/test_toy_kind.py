"""A new kind is one module and one registry entry; a factor suite is one entry of suites.yaml. Both by the commands."""

import re
from pathlib import Path

import pytest

from experiments import thought
from experiments.test_engine import interrupted
from experiments.toy import PROJECT, Toy, checkout, registered, suites_yaml
from writepath import cli
from writepath.errors import INTERRUPTED, UsageError
from writepath.experiments import engine
from writepath.records.cell import load_cell
from writepath.records.index import load_index

PUBLISHED = "results/published/toys"


@pytest.fixture
def toy(monkeypatch: pytest.MonkeyPatch) -> Toy:
    return registered(monkeypatch)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A checkout with one suite of the kind."""
    return checkout(tmp_path, suites_yaml("jpa", "rabbitmq-jpa"))


def wp(root: Path, *words: str) -> int:
    return cli.run(words, root)


def test_the_example_in_the_documents_is_this_kind() -> None:
    page = (PROJECT / "docs/adding-an-experiment.md").read_text(encoding="utf-8")
    (shown,) = re.findall(r"^```python\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    assert Path(thought.__file__).read_text(encoding="utf-8").endswith(f"\n\n{shown}")


def test_a_kind_runs_through_every_command(root: Path, toy: Toy, capsys: pytest.CaptureFixture[str]) -> None:
    toy.before = interrupted(2)
    assert wp(root, "bench-all", "SUITE=toys", "REPS=2") == INTERRUPTED
    toy.before = lambda _: None
    assert wp(root, "bench-all", "SUITE=toys", "REPS=2", "RESUME=1") == 0
    assert len(toy.measured) == len(set(toy.measured)) == 4
    assert wp(root, "report") == 0
    said = capsys.readouterr().out
    assert "It thought." in said
    assert "Thoughts" in said
    written = {path.name for path in (root / "results/latest/report").iterdir()}
    assert written >= {"report.md", "report.html", "thoughts.csv"}
    assert wp(root, "publish") == 0
    assert "| JPA | 2.19 (2.12–2.25) |" in (root / "docs/results/toys.md").read_text(encoding="utf-8")
    assert "(toys.md)" in (root / "docs/results/README.md").read_text(encoding="utf-8")
    assert wp(root, "verify", "RUN=results/latest") == 0
    assert wp(root, "compare", f"A={PUBLISHED}", "B=results/latest") == 0


def test_blocks_of_another_day_are_added(root: Path, toy: Toy, monkeypatch: pytest.MonkeyPatch) -> None:
    assert toy.kind == "toy"
    for seed in ("1", "2"):
        monkeypatch.setattr(engine, "STAMP", f"2026010{seed}T030405Z")
        wp(root, "bench-all", "SUITE=toys", f"SEED={seed}")
        assert wp(root, "publish", "ADD=1") == 0
    index = load_index(root / PUBLISHED)
    assert (index.repetitions, [cell.block for cell in index.cells]) == (2, [1, 1, 2, 2])


@pytest.mark.parametrize("place", ["suites.yaml", "command line"])
def test_a_factor_is_one_entry_of_the_suite_or_a_list_on_the_command_line(
    place: str, root: Path, toy: Toy
) -> None:
    words = ["POOL_SIZE=5,10"]
    if place == "suites.yaml":
        words = []
        text = suites_yaml("jpa", "rabbitmq-jpa", factors={"POOL_SIZE": [5, 10]})
        (root / "suites.yaml").write_text(text, encoding="utf-8")
    toy.before = interrupted(3)
    assert wp(root, "bench-all", "SUITE=toys", *words) == INTERRUPTED
    toy.before = lambda _: None
    assert wp(root, "bench-all", "SUITE=toys", "RESUME=1", *words) == 0
    latest = root / "results/latest"
    index = load_index(latest)
    names = {f"{variant},POOL_SIZE={size}" for variant in ("jpa", "rabbitmq-jpa") for size in (5, 10)}
    assert {cell.name for cell in index.cells} == names
    assert {Path(cell.folder).parent.name for cell in index.cells} == names
    assert load_cell(latest / "jpa,POOL_SIZE=10/block-01").levels == {"POOL_SIZE": "10"}
    assert wp(root, "publish") == 0
    assert "| JPA, POOL\\_SIZE=10 | 20.1 |" in (root / "docs/results/toys.md").read_text(encoding="utf-8")


def test_an_unknown_kind_and_a_wrong_parameter_name_place_and_remedy(root: Path, toy: Toy) -> None:
    assert toy.kind == "toy"
    for old, new, words in (
        ('"kind": "toy"', '"kind": "load"', "toy"),
        ('"thought_ms"', '"thoughts_ms"', "thoughts_ms"),
    ):
        text = suites_yaml("jpa").replace(old, new)
        (root / "suites.yaml").write_text(text, encoding="utf-8")
        with pytest.raises(UsageError, match=words):
            wp(root, "bench-all", "SUITE=toys")
