"""What does a new variant cost, and a new architecture? One place and four, and no line of Python or JavaScript."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

import own_checkout

SAMPLE = Path(__file__).parent / "sample"
MINUTES_20 = 1200
EXIT_UNKNOWN = 3

ENTRY = """
  elasticsearch-3s0r:
    title: Elasticsearch, 3 shards
    family: elasticsearch-3s0r
    profiles: [elasticsearch]
    ingress: elasticsearch-writer
    inspector: elasticsearch-writer
    acknowledges: translog flushed on the primary shard
    settings: {ELASTICSEARCH_SHARDS: 3, ELASTICSEARCH_REPLICAS: 0}
"""


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return own_checkout.copied(tmp_path_factory.mktemp("adding"))


def append(path: Path, text: str) -> None:
    path.write_text(path.read_text(encoding="utf-8") + text, encoding="utf-8")


def replace(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


def bench(checkout: Path, variant: str) -> dict[str, object]:
    """Runs the smoke load on one variant as a user would; the newest cell.json."""
    with own_checkout.Command(checkout, "bench", VARIANT=variant, SUITE="smoke", RERUNS="0") as command:
        assert command.ended(MINUTES_20) in {0, EXIT_UNKNOWN}, command.said()
    (run,) = own_checkout.latest(checkout).rglob("block-01/cell.json")
    found: dict[str, object] = json.loads(run.read_text(encoding="utf-8"))
    return found


def assert_believed(run: dict[str, object], variant: str) -> None:
    """Nothing spoke against the figures but, at most, other work on this host while it tests."""
    assert run["variant"] == variant
    verdict: dict[str, object] = run["verdict"]  # type: ignore[assignment]
    assert verdict["status"] == "valid" or verdict["noise"], verdict
    result: dict[str, object] = run["result"]  # type: ignore[assignment]
    audit: dict[str, object] = result["audit"]  # type: ignore[assignment]
    assert (audit["verdict"], audit["ok"]) == ("PASS", result["requests"]["acknowledged"])  # type: ignore[index]
    assert audit["ok"] != 0


@pytest.mark.native
@pytest.mark.timeout(MINUTES_20)
def test_a_variant_is_one_registry_entry(checkout: Path) -> None:
    append(checkout / "variants.yaml", ENTRY)
    run = bench(checkout, "elasticsearch-3s0r")
    assert_believed(run, "elasticsearch-3s0r")
    assert "3" in str(run["durability"])


@pytest.mark.native
@pytest.mark.timeout(MINUTES_20)
def test_an_architecture_is_four_places(checkout: Path) -> None:
    shutil.copytree(SAMPLE / "services/sql-writer", checkout / "services/sql-writer")
    replace(
        checkout / "services/pom.xml",
        "<module>jpa-writer</module>",
        "<module>jpa-writer</module>\n    <module>sql-writer</module>",
    )
    compose = checkout / "docker-compose.yml"
    replace(
        compose,
        "\n  postgres:\n",
        "\n" + (SAMPLE / "compose.yml").read_text(encoding="utf-8") + "  postgres:\n",
    )
    replace(compose, "profiles: [jpa, rabbitmq", "profiles: [sql, jpa, rabbitmq")
    append(checkout / "variants.yaml", (SAMPLE / "variants.yaml").read_text(encoding="utf-8"))
    assert_believed(bench(checkout, "sql"), "sql")
