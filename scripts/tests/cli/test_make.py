"""Does make pass exactly the variables of its own command line, unchanged?"""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
TARGETS = [
    "bench-all",
    "bench",
    "bench-faults",
    "pair",
    "campaign",
    "up",
    "report",
    "verify",
    "test",
    "java-test",
    "contract-test",
]
EXPORTED = {"SEED": "7", "POOL_SIZE": "99", "RUN": "/nowhere", "VARIANTS": "x", "RUNTIME": "podman"}


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """The Makefile before a command line that prints its arguments, one to a line."""
    folder = tmp_path / "checkout"
    (folder / "scripts").mkdir(parents=True)
    (folder / ".writepath").mkdir()
    shutil.copy(ROOT / "Makefile", folder)
    command = folder / "scripts" / "wp"
    command.write_text("#!/bin/sh\nprintf '%s\\n' \"$@\"\n", encoding="utf-8")
    command.chmod(0o755)
    return folder


def make(checkout: Path, *words: str, **exported: str) -> list[str]:
    """The arguments that the command line gets."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))}
    answer = subprocess.run(
        ["make", "--no-print-directory", "-C", checkout, *words],
        env={**inherited, **exported},
        capture_output=True,
        check=True,
        text=True,
    )
    return answer.stdout.splitlines()


def test_exported_variables_are_not_passed(checkout: Path) -> None:
    for target in TARGETS:
        assert make(checkout, target, **EXPORTED) == [target]
    assert make(checkout, "-e", "bench-all", **EXPORTED) == ["bench-all"]


def test_every_variable_of_the_command_line_is_passed_a_misspelt_one_too(checkout: Path) -> None:
    for target in TARGETS:
        found = make(checkout, target, "SUITE=smoke", "VARAINTS=jpa", "SEED:=3", **EXPORTED)
        assert found[0] == target
        assert sorted(found[1:]) == ["SEED=3", "SUITE=smoke", "VARAINTS=jpa"]


def test_odd_values_arrive_unchanged(checkout: Path) -> None:
    values = [
        "",
        "two words",
        "edge  ",
        "it's",
        "'",
        '"quoted"',
        "$HOME",
        "$(shell echo ran)",
        "${SEED}",
        "$$",
    ]
    values += ["`echo ran`", "a\\b\\", "#no comment", "a;b&c|d>e", "*", "a,b=c", "영화", "-x"]
    for value in values:
        assert make(checkout, "bench-all", f"DATASET={value}") == ["bench-all", f"DATASET={value}"]


def test_a_value_of_several_lines_is_an_error(checkout: Path) -> None:
    with pytest.raises(subprocess.CalledProcessError) as failed:
        make(checkout, "bench-all", "DATASET=a\nb")
    assert "DATASET: a value of several lines" in failed.value.stderr


def test_the_command_of_with_services_comes_behind_its_options(checkout: Path) -> None:
    found = make(checkout, "with-services", "RUNTIME=native", "CMD=mvn -D 'a b'")
    assert found == ["with-services", "RUNTIME=native", "--", "mvn", "-D", "a b"]
