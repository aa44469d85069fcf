"""A campaign: each suite is published and committed before the next begins; a stop costs at most the one under way."""

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from experiments import thought
from experiments.test_engine import interrupted
from experiments.toy import PROJECT, Toy, checkout, registered, suites_yaml
from lifecycle.fakes import FakeRuntime
from own_checkout import change
from writepath import cli, commands, process
from writepath.config import registry
from writepath.config.registry import Series
from writepath.errors import INTERRUPTED, SetupError, UsageError
from writepath.experiments import campaign, engine, publish, read, series
from writepath.experiments.base import CellRun, Plan
from writepath.measure import host
from writepath.options import Asked, Call
from writepath.processors import SHARED
from writepath.records.faults import FaultResult
from writepath.records.measures import Verdict
from writepath.report import front
from writepath.report.facts import Facts
from writepath.runtime.base import Runtime

NAMES = ("first", "second")
BEGIN, FIRST, SECOND = "Begin", "Publish suite first", "Publish suite second"
ALL_MINUTES = 600
PUBLISHED_BYTES = 16_000_000  # at most, of all raw data in the checkout


@pytest.fixture
def toy(monkeypatch: pytest.MonkeyPatch) -> Toy:
    def ready(*given: Any) -> Runtime:
        name, split = given[2], given[5]
        return FakeRuntime(name="native" if name == "auto" else name, split=split)

    kind = registered(monkeypatch)
    monkeypatch.setattr(commands, "_ready_runtime", ready)
    monkeypatch.setattr(engine, "STAMP", "%Y%m%dT%H%M%S.%fZ")  # two suite runs may begin within a second
    monkeypatch.setattr(host, "IDLE_LOOK_S", 0.02)
    monkeypatch.setattr(host, "IDLE_LIMIT", 2.0)
    return kind


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A git checkout with a campaign of two suites."""
    data = json.loads(suites_yaml("jpa", "rabbitmq-jpa"))
    data["suites"] = dict.fromkeys(NAMES, data["suites"]["toys"])
    data["campaign"] = {"title": "All", "suites": [{"suite": name, "minutes": 5} for name in NAMES]}
    made = checkout(tmp_path / "checkout", json.dumps(data))
    shutil.copy(PROJECT / ".gitignore", made)
    git(made, "init", "--quiet")
    git(made, "config", "user.name", "Tester")
    git(made, "config", "user.email", "tester@localhost")
    commit(made, BEGIN)
    return made


def git(root: Path, *words: str) -> str:
    return process.call("git", "-C", root, *words)


def commit(root: Path, subject: str) -> None:
    git(root, "add", "--all")
    git(root, "commit", "--quiet", "--message", subject)


def commits(root: Path) -> list[str]:
    """Subjects, the newest first."""
    return git(root, "log", "--format=%s").splitlines()


def changes(root: Path) -> str:
    return git(root, "status", "--porcelain")


def published(root: Path) -> set[str]:
    return {path.name for path in (root / "results/published").iterdir()}


def wp(root: Path, *words: str) -> int:
    return cli.run(["campaign", *words], root)


def said(capsys: pytest.CaptureFixture[str]) -> list[str]:
    """Of suites and the campaign as a whole."""
    lines = capsys.readouterr().out.splitlines()
    return [line for line in lines if line.startswith(("suite ", "series ", "campaign"))]


def test_each_suite_is_published_and_committed_after_all_estimates(
    root: Path, toy: Toy, capsys: pytest.CaptureFixture[str]
) -> None:
    assert wp(root) == 0
    assert commits(root) == [SECOND, FIRST, BEGIN]
    assert changes(root) == ""
    assert published(root) == set(NAMES)
    assert (root / "docs/results/first.md").is_file()
    lines = said(capsys)
    assert lines[:3] == [
        *(f"suite {name}: 2 cells, about 2 minutes (limit 5)" for name in NAMES),
        "series campaign: 2 suite runs, about 3 minutes (limit 10)",
    ]
    assert lines[-1] == "campaign: everything is published"
    assert len(toy.measured) == 4
    assert wp(root) == 0
    assert said(capsys)[:3] == [
        *(f"suite {name}: finished" for name in NAMES),
        "series campaign: 0 suite runs, about 0 minutes",
    ]
    assert (len(toy.measured), len(commits(root))) == (4, 3)


def test_suites_chooses_some_and_a_later_campaign_takes_them_as_finished(
    root: Path, toy: Toy, capsys: pytest.CaptureFixture[str]
) -> None:
    assert wp(root, "SUITES=second") == 0
    assert commits(root) == [SECOND, BEGIN]
    assert said(capsys)[-1] == "campaign: second is published"
    assert wp(root) == 0
    assert said(capsys)[1] == "suite second: finished"
    assert commits(root) == [FIRST, SECOND, BEGIN]
    assert len(toy.measured) == 4


def test_a_suite_that_the_campaign_does_not_have_is_refused_before_anything_runs(
    root: Path, toy: Toy
) -> None:
    with pytest.raises(UsageError, match=r"SUITES=second,third: .* no suite 'third'\. It has first"):
        wp(root, "SUITES=second,third")
    assert not toy.measured


def test_a_stopped_suite_is_continued_and_a_published_one_is_not_run_twice(
    root: Path, toy: Toy, capsys: pytest.CaptureFixture[str]
) -> None:
    toy.before = interrupted(4)
    assert wp(root) == INTERRUPTED
    assert commits(root) == [FIRST, BEGIN]
    assert said(capsys)[-1] == "campaign stopped; `make campaign` continues it"
    toy.before = lambda _: None
    assert wp(root) == 0
    assert said(capsys)[:2] == [
        "suite first: finished",
        "suite second: continued, at most 2 minutes (limit 5)",
    ]
    assert commits(root) == [SECOND, FIRST, BEGIN]
    assert len(toy.measured) == len(set(toy.measured)) * 2 == 4


def test_a_suite_of_which_noise_left_a_cell_unknown_is_not_published_and_the_next_start_continues_it(
    root: Path, toy: Toy, capsys: pytest.CaptureFixture[str]
) -> None:
    toy.noisy = (1, 3, 4)  # a cell of the first suite, and both of its reruns
    assert wp(root) == 1
    assert commits(root) == [SECOND, BEGIN]
    lines = said(capsys)
    assert any(line.startswith("suite first: not published: ") for line in lines)
    assert lines[-1].startswith("campaign: first not published. `make campaign` runs what is missing, failed")
    assert len(toy.measured) == 6
    assert wp(root) == 0
    assert commits(root) == [FIRST, SECOND, BEGIN]
    assert len(toy.measured) == 7


def test_an_invalid_suite_stays_as_it_is_and_the_campaign_says_so(
    root: Path, toy: Toy, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(thought, "NOISY", Verdict(status="invalid", reasons=("planted loss",)))
    toy.noisy = (1,)
    for _ in range(2):
        assert wp(root) == 1
        assert any("not published: " in line and "planted loss" in line for line in said(capsys))
        assert (commits(root), changes(root)) == ([SECOND, BEGIN], "")
        assert len(toy.measured) == 4
    shutil.rmtree(root / "results/first")
    assert wp(root) == 0
    assert (commits(root)[0], len(toy.measured)) == (FIRST, 6)


def test_a_suite_that_cannot_start_does_not_keep_the_next_one_from_it(
    root: Path, toy: Toy, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    ready, is_missing = commands._ready_runtime, iter((True, False))  # noqa: SLF001 - the fake

    def once(*given: Any) -> Runtime:
        if next(is_missing):
            raise SetupError("planted: no engine")
        return ready(*given)

    monkeypatch.setattr(commands, "_ready_runtime", once)
    assert wp(root) == SetupError.exit_code
    assert "suite first: planted: no engine" in said(capsys)
    assert (commits(root), len(toy.measured)) == ([SECOND, BEGIN], 2)


@pytest.mark.parametrize("killed", [False, True], ids=["ctrl-c", "power cut"])
def test_a_publication_that_was_stopped_is_undone_and_made_from_the_suite_run(
    killed: bool, root: Path, toy: Toy, monkeypatch: pytest.MonkeyPatch
) -> None:
    def half(root: Path) -> list[Path]:
        (root / "README.md").write_text("", encoding="utf-8")
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(publish, "write_pages", half)
        if killed:
            patch.setattr(campaign, "_undo", lambda _root: None)
        assert wp(root) == INTERRUPTED
    assert bool(changes(root)) == killed
    assert (commits(root), len(toy.measured)) == ([BEGIN], 2)
    assert wp(root) == 0
    assert (commits(root), len(toy.measured)) == ([SECOND, FIRST, BEGIN], 4)
    assert changes(root) == ""


def test_a_file_that_is_changed_meanwhile_is_neither_published_nor_lost(root: Path, toy: Toy) -> None:
    def edits(_run: CellRun) -> None:
        (root / "README.md").write_text("mine", encoding="utf-8")

    toy.before = edits
    assert wp(root) == UsageError.exit_code
    assert (root / "README.md").read_text(encoding="utf-8") == "mine"
    assert commits(root) == [BEGIN]


@pytest.mark.parametrize("file", ["README.md", "new.txt"])
def test_a_checkout_with_changes_is_refused(file: str, root: Path, toy: Toy) -> None:
    (root / file).write_text("mine", encoding="utf-8")
    with pytest.raises(UsageError, match=rf"1 files differ .*, the first is {file}; .*`git stash"):
        wp(root)
    assert toy.measured == []


def test_a_busy_host_is_refused_and_the_programs_are_named(
    root: Path, toy: Toy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(host, "IDLE_LIMIT", -1.0)
    with pytest.raises(SetupError, match=r"other programs use \d+% of the CPU .* \(pid \d+\)"):
        wp(root)
    assert toy.measured == []


def test_a_git_that_cannot_commit_is_refused_before_anything_is_measured(
    root: Path, toy: Toy, monkeypatch: pytest.MonkeyPatch
) -> None:
    git(root, "config", "--unset", "user.email")
    git(root, "config", "user.useConfigOnly", "true")
    for name in ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM"):
        monkeypatch.setenv(name, os.devnull)
    for name in ("GIT_COMMITTER_EMAIL", "EMAIL"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(process.CallError, match="Please tell me who you are"):
        wp(root)
    assert toy.measured == []


def test_a_suite_run_of_another_host_is_not_continued(
    root: Path, toy: Toy, monkeypatch: pytest.MonkeyPatch
) -> None:
    toy.before = interrupted(2)
    with monkeypatch.context() as patch:
        patch.setattr(host, "_cpu_model", lambda: "another")
        assert wp(root) == INTERRUPTED
    toy.before = lambda _: None
    with pytest.raises(UsageError, match=r"RESUME=1: the host differs from suite run .*: was another, "):
        cli.run(["bench-all", "SUITE=first", "RESUME=1"], root)
    assert wp(root) == 0
    assert (len(toy.measured), len([*(root / "results/first").iterdir()])) == (1 + 4, 2)


def test_what_another_version_has_published_is_measured_with_this_one(root: Path, toy: Toy) -> None:
    assert wp(root) == 0
    (root / "k6/scenarios/ramp.js").write_text("// another\n", encoding="utf-8")
    commit(root, "Change")
    assert wp(root) == 0
    assert commits(root) == [SECOND, FIRST, "Change", SECOND, FIRST, BEGIN]
    assert len(toy.measured) == 8


def test_a_suite_may_be_published_from_both_runtimes(root: Path, toy: Toy) -> None:
    data = json.loads((root / "suites.yaml").read_text(encoding="utf-8"))
    data["campaign"]["suites"].append({"suite": "first", "runtime": "docker"})
    (root / "suites.yaml").write_text(json.dumps(data), encoding="utf-8")
    commit(root, "Both")
    toy.before = interrupted(6)
    assert wp(root) == INTERRUPTED
    toy.before = lambda _: None
    for _ in range(2):
        assert wp(root) == 0
    assert published(root) == {*NAMES, "first-docker"}
    assert (len(toy.measured), commits(root)[0]) == (6, "Publish suite first-docker")


def test_a_suite_above_its_limit_is_refused(root: Path, toy: Toy) -> None:
    change(root, "suites.yaml", '"minutes": 5', '"minutes": 1')
    commit(root, "Less")
    with pytest.raises(UsageError, match=r"suite 'first', which takes about 2 minutes \(limit 1\)"):
        wp(root)
    assert toy.measured == []


def shipped() -> Series:
    known = registry.load(PROJECT).campaign
    assert known is not None
    return known


def shipped_plans() -> list[Plan]:
    def left(made: list[Plan]) -> list[Plan]:
        return made

    asked = Asked(suite="campaign", runtime="native")
    return series.planned(Call(root=PROJECT, command="campaign"), asked, shipped(), left, lambda _: None)


def test_the_shipped_campaign_fits_in_ten_hours_and_strikes_each_store_and_broker_twenty_times() -> None:
    assert sum(member.minutes or ALL_MINUTES for member in shipped().suites) <= ALL_MINUTES
    plans = shipped_plans()
    assert len(plans) == len(shipped().suites)
    faults = [plan for plan in plans if plan.kind.kind == "faults"]
    struck = (("rabbitmq-jpa", "database"), ("rabbitmq-jpa", "broker"), ("elasticsearch-1s0r", "index"))
    for plan, (runtime, fault) in zip(
        faults, (("native", "power-cut"), ("native", "kill"), ("docker", "kill")), strict=True
    ):
        assert (plan.runtime, plan.processors) == (runtime, SHARED)
        assert {plan.params.trials[f"{variant},FAULT={fault}-{part}"] for variant, part in struck} == {20}


def test_the_shipped_campaign_measures_all_that_readme_and_guide_quote(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Else its publication would remove the guide."""
    folders = [path for path in publish.published_suites(PROJECT) if path.name in shipped().names]
    facts = publish.published_facts({path.name: read.published(path) for path in folders})
    quoted, given = set[str](), Facts.kills

    def kills(self: Facts, name: str, fault: str) -> FaultResult:
        quoted.add(f"{name},FAULT={fault}")
        return given(self, name, fault)

    monkeypatch.setattr(Facts, "kills", kills)
    assert front.sentences(facts)
    assert front.choosing(facts)
    planned = [plan for plan in shipped_plans() if plan.kind.kind == "faults" and plan.runtime == "native"]
    assert quoted
    assert quoted <= {cell for plan in planned for cell in plan.params.trials}


def test_all_published_raw_data_are_at_most_16_mb() -> None:
    sizes = [path.stat().st_size for path in (PROJECT / "results/published").rglob("*") if path.is_file()]
    assert sizes
    assert sum(sizes) <= PUBLISHED_BYTES
