"""What does a new architecture cost, and a further variant of it? Four places and one, and no line of Python."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

import own_checkout

SAMPLE = Path(__file__).parent / "sample"
MINUTES_20 = 1200
EXIT_UNKNOWN = 3


def read(folder: Path, name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / name).read_text(encoding="utf-8"))
    return found


@pytest.mark.native
@pytest.mark.timeout(MINUTES_20)
def test_an_architecture_is_four_places_and_a_variant_one(tmp_path: Path) -> None:
    checkout = own_checkout.copied(tmp_path)
    shutil.copytree(SAMPLE / "services/sql-writer", checkout / "services/sql-writer")
    module = "<module>jpa-writer</module>"
    own_checkout.change(checkout, "services/pom.xml", module, f"{module}\n    {module.replace('jpa', 'sql')}")
    block = (SAMPLE / "compose.yml").read_text(encoding="utf-8")
    own_checkout.change(checkout, "docker-compose.yml", "\n  postgres:\n", f"\n{block}  postgres:\n")
    for _ in ("nginx", "postgres"):
        own_checkout.change(
            checkout, "docker-compose.yml", "profiles: [jpa, rabb", "profiles: [sql, jpa, rabb"
        )
    with (checkout / "variants.yaml").open("a", encoding="utf-8") as variants:
        variants.write((SAMPLE / "variants.yaml").read_text(encoding="utf-8"))

    asked = {"VARIANTS": "sql,sql-pool-7", "SUITE": "smoke", "RERUNS": "0"}
    with own_checkout.Command(checkout, "bench-all", **asked) as command:
        assert command.ended(MINUTES_20) in {0, EXIT_UNKNOWN}, command.said()
    for variant, connections in (("sql", "5"), ("sql-pool-7", "7")):
        folder = own_checkout.latest(checkout) / variant / "block-01"
        assert_believed(read(folder, "cell.json"))
        settings = read(folder, "settings.json")["sql-writer"]
        assert settings["SPRING_DATASOURCE_HIKARI_MAXIMUM_POOL_SIZE"] == connections


def assert_believed(cell: dict[str, Any]) -> None:
    """Nothing spoke against the figures but, at most, other work on this host while it tests."""
    assert cell["verdict"]["status"] == "valid" or cell["verdict"]["noise"], cell["verdict"]
    audit = cell["result"]["audit"]
    assert (audit["verdict"], audit["ok"]) == ("PASS", cell["result"]["requests"]["acknowledged"])
    assert audit["ok"] != 0
