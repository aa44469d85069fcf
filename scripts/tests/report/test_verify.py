"""Does `make verify` see one changed digit in any published file, and name file, figure and both values?"""

from __future__ import annotations

import json
import lzma
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from report import planted_documents
from writepath import verify
from writepath.report import manifest, publish

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).resolve().parents[3]
RUN = "results/published/smoke/rabbitmq-jpa/ramp-smoke/rep-01"
PAGE = "docs/results/smoke.md"


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A checkout of which only the smoke suite is published."""
    root = tmp_path_factory.mktemp("published")
    shutil.copytree(ROOT / publish.PUBLISHED / "smoke", root / publish.PUBLISHED / "smoke")
    planted_documents.write(root)
    publish.write_pages(root)
    return root


@pytest.fixture
def copied(whole: Path, tmp_path: Path) -> Path:
    return shutil.copytree(whole, tmp_path / "checkout")


def said(root: Path, path: Path | None = None) -> tuple[int, str]:
    lines: list[str] = []
    code = verify.run(root, path, lines.append)
    return code, "\n".join(lines)


def test_every_committed_run_says_what_its_raw_data_give() -> None:
    assert verify.runs(ROOT) == []


def test_a_whole_tree_passes(copied: Path) -> None:
    code, words = said(copied)
    assert (code, words == "all published figures match their raw data: smoke, and their pages") == (0, True)


def in_run(change: Callable[[dict[str, Any]], None], root: Path) -> None:
    path = root / RUN / "run.json"
    record = json.loads(path.read_text(encoding="utf-8"))
    change(record)
    path.write_text(json.dumps(record, indent=1), encoding="utf-8")


def by(*keys: str | int, add: float) -> Callable[[dict[str, Any]], None]:
    def change(record: Any) -> None:
        for key in keys[:-1]:
            record = record[key]
        record[keys[-1]] = round(record[keys[-1]] + add, 3)

    return change


@pytest.mark.parametrize(
    ("figure", "change"),
    [
        ("requests.acknowledged", by("requests", "acknowledged", add=1)),
        ("requests.by_status.201", by("requests", "by_status", "201", add=-1)),
        ("accept_latency_ms.p95", by("accept_latency_ms", "p95", add=0.1)),
        ("planned_latency_ms.p99", by("planned_latency_ms", "p99", add=-0.1)),
        ("time_to_durable_ms.median", by("time_to_durable_ms", "median", add=0.1)),
        ("throughput.mean_per_s", by("throughput", "mean_per_s", add=0.01)),
        ("durable_per_s", by("durable_per_s", add=0.01)),
        ("phases.2.accept_latency_ms.max", by("phases", 1, "accept_latency_ms", "max", add=0.1)),
        ("phases.1.planned", by("phases", 0, "planned", add=1)),
        ("audit.ok", by("audit", "ok", add=1)),
        ("audit.lost", by("audit", "lost", add=1)),
        ("drain.seconds", by("drain", "seconds", add=0.01)),
        ("resources.postgres.cpu_seconds", by("resources", "postgres", "cpu_seconds", add=0.1)),
        ("generator.lateness_ms_p99", by("generator", "lateness_ms_p99", add=1)),
        ("generator.cpu_share_mean", by("generator", "cpu_share_mean", add=0.01)),
    ],
)
def test_a_changed_figure_is_named_with_both_values_even_where_the_digests_were_made_again(
    figure: str, change: Callable[[dict[str, Any]], None], copied: Path
) -> None:
    in_run(change, copied)
    manifest.write(copied / publish.PUBLISHED / "smoke")
    (found,) = [problem for problem in verify.runs(copied) if f": {figure}: " in problem]
    assert found.startswith(f"{RUN}/run.json: {figure}: ")
    assert ", recomputed " in found
    assert said(copied)[0] == 1


def test_a_digit_below_what_is_kept_is_found_by_its_digest(copied: Path) -> None:
    in_run(by("accept_latency_ms", "p95", add=0.001), copied)
    code, words = said(copied)
    assert (code, "rabbitmq-jpa/ramp-smoke/rep-01/run.json: changed since it was published" in words) == (
        1,
        True,
    )


@pytest.mark.parametrize(
    ("column", "figure"),
    [("duration", "accept_latency_ms"), ("status", "requests"), ("durable", "time_to_durable_ms")],
)
def test_a_changed_digit_in_a_compact_ledger_is_found_by_the_figures(
    column: str, figure: str, copied: Path
) -> None:
    path = copied / RUN / "requests.txt.xz"
    lines = lzma.decompress(path.read_bytes()).decode().splitlines()
    at = next(number for number, line in enumerate(lines) if line.startswith(f"{column} "))
    name, *values = lines[at].split(" ")
    values[len(values) // 2] = f"{values[len(values) // 2]}00" if column != "status" else "501"
    lines[at] = " ".join([name, *values])
    path.write_bytes(lzma.compress(("\n".join(lines) + "\n").encode()))
    assert any("requests.txt.xz: changed" in problem for problem in verify.pages(copied))
    manifest.write(copied / publish.PUBLISHED / "smoke")
    assert any(f"{RUN}/run.json: {figure}" in problem for problem in verify.runs(copied))


def test_a_changed_digit_in_a_page_is_found(copied: Path) -> None:
    page = copied / PAGE
    text = page.read_text(encoding="utf-8")
    digit = next(
        index for index, letter in enumerate(text) if letter in "12345678" and index > len(text) // 2
    )
    page.write_text(text[:digit] + str(int(text[digit]) + 1) + text[digit + 1 :], encoding="utf-8")
    code, words = said(copied)
    assert (code, f"{PAGE}: differs from what the published raw data give" in words) == (1, True)


def test_an_index_that_says_otherwise_than_the_run_is_found(copied: Path) -> None:
    in_run(lambda record: record["verdict"].update(status="unknown"), copied)
    assert any(
        "verdict.status: unknown, but valid in suite.json" in problem for problem in verify.runs(copied)
    )


def test_data_that_cannot_be_read_any_more_is_a_difference(copied: Path) -> None:
    (copied / RUN / "requests.txt.xz").write_bytes(b"no longer")
    code, words = said(copied)
    assert (code, f"{RUN}/run.json: cannot be recomputed" in words) == (1, True)
