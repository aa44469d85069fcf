"""Is every wrong value an error that names it and says what to do, before anything is started?"""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from writepath import cli
from writepath.errors import UsageError
from writepath.options import ONE, RUN, SETTINGS, make_variables, parse

ROOT = Path(__file__).resolve().parents[2]


def options(*words: str, allowed: tuple[str, ...] = (*RUN, SETTINGS), **environment: str) -> object:
    return parse("bench-all", words, allowed, ROOT, environment)


def test_words_make_variables_and_environment_are_read_in_this_order() -> None:
    found = parse("bench-all", ["SEED=3"], RUN, ROOT, {"SEED": "1", "REPS": "2", "SUITE": "x"})
    assert dict(found.values) == {"SEED": "3", "REPS": "2", "SUITE": "x"}


def test_compose_variables_are_overrides() -> None:
    found = parse("bench-all", ["INSTANCES=2", "POOL_SIZE=9"], (*RUN, SETTINGS), ROOT, {})
    assert dict(found.overrides) == {"INSTANCES": "2", "POOL_SIZE": "9"}


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["REP=2"], "REP=2.*did you mean 'REPS'"),
        (["VARIANT=jpa"], "VARIANT=jpa.*make bench VARIANT"),
        (["--suite"], "'--suite'.*NAME=value"),
        (["INSTANCES=many"], "INSTANCES=many: must be a whole number from 1"),
        (["POOL_SIZE=0"], "POOL_SIZE=0: must be a whole number from 1"),
        (["STORE=jpa"], "STORE=jpa"),
        (["NGINX_IMAGE="], "NGINX_IMAGE=: empty"),
    ],
)
def test_a_wrong_word_names_flag_value_and_remedy(words: list[str], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        options(*words)


def test_an_unknown_make_variable_is_an_error_too() -> None:
    with pytest.raises(UsageError, match="VARIANT=jpa: `bench-all` has no option VARIANT"):
        options(MAKEFLAGS=" -- VARIANT=jpa SEED=1", VARIANT="jpa", SEED="1")


def test_values_given_to_make_are_taken_from_the_environment_unquoted() -> None:
    found = parse(
        "bench-all", [], RUN, ROOT, {"MAKEFLAGS": "w -- DATASET=a\\ SEED=b.csv", "DATASET": "a SEED=b.csv"}
    )
    assert dict(found.values) == {"DATASET": "a SEED=b.csv"}


def test_make_flags_without_variables_name_none() -> None:
    assert make_variables("w --jobserver-auth=3,4") == []


@pytest.mark.parametrize("value", ["0", "-1", "two", "1.5", "9" * 19, "²"])
def test_repetitions_are_a_whole_number_from_one(value: str) -> None:
    found = parse("bench-all", [f"REPS={value}"], RUN, ROOT, {})
    with pytest.raises(UsageError, match="REPS="):
        found.whole("REPS", 1, low=1, high=1000)


def test_a_variant_named_twice_is_an_error() -> None:
    with pytest.raises(UsageError, match="'jpa' is listed twice"):
        parse("bench-all", ["VARIANTS=jpa,jpa"], RUN, ROOT, {}).names("VARIANTS")


def test_a_missing_variant_says_what_to_type() -> None:
    with pytest.raises(UsageError, match="make bench-all VARIANT=jpa"):
        parse("bench-all", [], ONE, ROOT, {}).required("VARIANT", "jpa")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["bench-al"], "did you mean 'bench-all'"),
        (["bench-all", "SUITE=smok"], "did you mean 'smoke'"),
        (["bench-all", "VARIANTS=jap"], "did you mean 'jpa'"),
        (["bench", "VARIANT=kafka"], "VARIANT=kafka"),
        (["bench-all", "SUITE=smoke", "RUNTIME=podman"], "RUNTIME=podman"),
        (["bench-all", "SUITE=smoke", "RESUME=yes"], "RESUME=yes"),
        (["bench-all", "DATASET=/nowhere.csv"], "DATASET="),
        (
            ["bench-all", "SUITE=smoke", "SLO_MS=50"],
            "SLO_MS=50: applies only to capacity and search suites; 'smoke' is a load suite",
        ),
        (["bench", "VARIANT=jpa", "HOLD_SECONDS=9"], "make bench SUITE=capacity HOLD_SECONDS=9"),
        (["bench-all", "SUITE=capacity", "SLO_MS=0"], "SLO_MS=0: must be a whole number from 1"),
        (["bench-all", "SUITE=smoke", "RERUNS=10"], "RERUNS=10: must be a whole number from 0 to 9"),
        (["bench-all", "SUITE=capacity", "RERUNS=1"], "RERUNS=1: applies only to load suites; 'capacity'"),
        (["bench-all", "SUITE=capacity", "HOLD_SECONDS=4"], "HOLD_SECONDS=4: must be a whole number from 5"),
        (
            ["bench-all", "SUITE=capacity", "DOCS=5000"],
            "DOCS=5000: applies only to search suites; 'capacity'",
        ),
        (["bench", "VARIANT=jpa", "ROUNDS=3"], "make bench SUITE=search ROUNDS=3"),
        (["bench-all", "SUITE=search", "DOCS=999"], "DOCS=999: must be a whole number from 1000 to 1000000"),
        (["bench-all", "SUITE=search", "DOCS=1e6"], "DOCS=1e6: must be a whole number"),
        (["bench-all", "SUITE=search", "ROUNDS=0"], "ROUNDS=0: must be a whole number from 1 to 1000"),
        (["bench-all", "SUITE=search", "SLO_MS=0"], "SLO_MS=0: must be a whole number from 1"),
        (["bench-all", "SUITE=search", "RERUNS=1"], "RERUNS=1: applies only to load suites; 'search'"),
    ],
)
def test_usage_errors_are_one_line_and_exit_2(
    arguments: list[str], words: str, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in (*RUN, "MAKEFLAGS"):
        monkeypatch.delenv(name, raising=False)
    assert cli.main(arguments) == 2
    error = capfd.readouterr().err
    assert words in error
    assert "Traceback" not in error


def test_an_unexpected_error_leaves_its_trace_in_a_file(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(_arguments: object) -> int:
        raise ZeroDivisionError("planted")

    monkeypatch.setattr(cli, "run", broken)
    monkeypatch.setattr(cli, "ROOT", tmp_path)
    assert cli.main(["help"]) == 10
    error = capfd.readouterr().err
    assert "unexpected ZeroDivisionError: planted" in error
    (trace,) = (tmp_path / ".writepath" / "errors").iterdir()
    assert "planted" in trace.read_text()
    assert trace.name in error.replace("\n", "")


def test_sigterm_ends_a_command_as_ctrl_c_does(monkeypatch: pytest.MonkeyPatch) -> None:
    def waiting(_arguments: object) -> int:
        os.kill(os.getpid(), signal.SIGTERM)
        return 0

    before = signal.getsignal(signal.SIGTERM)
    monkeypatch.setattr(cli, "run", waiting)
    assert cli.main(["bench-all"]) == 130
    assert signal.getsignal(signal.SIGTERM) is before


def test_a_command_that_passes_words_on_still_obeys_its_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RUNTIME", "podman")
    with pytest.raises(UsageError, match="RUNTIME=podman"):
        cli.run(["with-services", "--", "true"])
