"""A new architecture costs four places, a further variant one, no line of Python; its suite is stopped and killed.

The command runs as a user types it, with real processes: Ctrl-C in the second load, -9 in the same load when it is
resumed, then resumed to its end.
"""

import json
import shutil
import signal
from pathlib import Path
from typing import Any

import psutil
import pytest

import own_checkout
from contract.subject import eventually
from own_checkout import Command
from writepath import processors
from writepath.load import ledger

SAMPLE = Path(__file__).parent / "sample"
MINUTES_5, MINUTES_10 = 300, 600
EXIT_UNKNOWN, EXIT_INTERRUPTED = 3, 130
PLANNED = 1257  # of the suite `smoke`
POOL = 2 * len(processors.choose(processors.SPLIT, print).system) + 1  # where nothing sets it
CONNECTIONS = {"sql": str(POOL), "sql-pool-7": "7"}
SUITE = {"SUITE": "smoke", "VARIANTS": ",".join(CONNECTIONS), "RERUNS": "0"}


def read(file: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return found


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """With the architecture: its module, its place in two files of topology, its variants."""
    made = own_checkout.copied(tmp_path)
    shutil.copytree(SAMPLE / "services/sql-writer", made / "services/sql-writer")
    module = "<module>jpa-writer</module>"
    own_checkout.change(made, "services/pom.xml", module, f"{module}\n    {module.replace('jpa', 'sql')}")
    block = (SAMPLE / "compose.yml").read_text(encoding="utf-8")
    own_checkout.change(made, "docker-compose.yml", "\n  postgres:\n", f"\n{block}  postgres:\n")
    for _ in ("nginx", "postgres"):
        own_checkout.change(made, "docker-compose.yml", "profiles: [jpa, rabb", "profiles: [sql, jpa, rabb")
    with (made / "variants.yaml").open("a", encoding="utf-8") as variants:
        variants.write((SAMPLE / "variants.yaml").read_text(encoding="utf-8"))
    return made


def finished(checkout: Path) -> list[Path]:
    return [
        cell
        for cell in (checkout / "results/latest").resolve().rglob("cell.json")
        if read(cell)["outcome"] == "finished"
    ]


def in_second_load(command: Command, checkout: Path) -> list[psutil.Process]:
    """Waits until the first run is finished and the second is under load; every process of the command then."""

    def loads() -> bool:
        assert command.process.poll() is None, command.said()
        done = {cell.parent for cell in finished(checkout)}
        found = (checkout / "results/latest").resolve().rglob("ledger.rec")
        return bool(done) and any(ledger.holds_any(file) for file in found if file.parent not in done)

    eventually(loads, "the second run loads", within_s=MINUTES_10)
    processes = psutil.Process(command.process.pid).children(recursive=True)
    names = {process.name().split("-")[0] for process in processes}  # k6-1.8.1-...
    assert {"k6", "java", "postgres", "nginx"} <= names
    return processes


def ended(processes: list[psutil.Process]) -> bool:
    return not any(process.is_running() and process.status() != psutil.STATUS_ZOMBIE for process in processes)


def assert_believed(cell: dict[str, Any]) -> None:
    """Nothing spoke against the figures but, at most, other work on this host while it tests."""
    assert cell["verdict"]["status"] == "valid" or cell["verdict"]["noise"], cell["verdict"]
    audit, requests = cell["result"]["audit"], cell["result"]["requests"]
    assert requests["planned"] == PLANNED
    assert (audit["verdict"], audit["ok"]) == ("PASS", requests["acknowledged"])
    assert audit["ok"] != 0


@pytest.mark.native
@pytest.mark.timeout(4 * MINUTES_10)
def test_an_added_architecture_is_measured_though_its_suite_is_stopped_and_killed(checkout: Path) -> None:
    with Command(checkout, "bench-all", **SUITE) as command:
        processes = in_second_load(command, checkout)
        (first,) = finished(checkout)
        command.process.send_signal(signal.SIGINT)
        assert command.ended(MINUTES_5) == EXIT_INTERRUPTED, command.said()
        assert "Continue with RESUME=1" in command.said()
    assert ended(processes)
    kept = first.read_bytes()
    for left in {file.parent for file in first.parents[2].rglob("ledger.rec")} - {first.parent}:
        shutil.rmtree(left)
    with Command(checkout, "bench-all", RESUME="1", **SUITE) as command:
        processes = in_second_load(command, checkout)
        command.process.kill()
        command.ended(MINUTES_5)
    with Command(checkout, "bench-all", RESUME="1", **SUITE) as resumed:
        eventually(lambda: ended(processes), "every process of the killed suite is gone", within_s=MINUTES_5)
        assert resumed.ended(MINUTES_10) in {0, EXIT_UNKNOWN}, resumed.said()
    if json.loads(kept)["verdict"]["status"] == "valid":  # what a noisy host made unknown is measured again
        assert first.read_bytes() == kept
    assert read(first)["outcome"] == "finished"
    folder = own_checkout.latest(checkout)
    index = read(folder / "index.json")
    assert (index["status"], len(index["cells"])) == ("finished", 2)
    for variant, connections in CONNECTIONS.items():
        assert_believed(read(folder / variant / "block-01/cell.json"))
        settings = read(folder / variant / "block-01/settings.json")["sql-writer"]
        assert settings["SPRING_DATASOURCE_HIKARI_MAXIMUM_POOL_SIZE"] == connections
