"""Is every wrong value an error that names it and says what to do, before anything is started?"""

import contextlib
import os
import re
import signal
from pathlib import Path
from typing import Any

import pytest
import typer

from writepath import cli, commands, lock, services
from writepath.cli.app import app
from writepath.cli.options import ROOT
from writepath.config import settings
from writepath.config.settings import Factor, Given
from writepath.errors import UsageError
from writepath.experiments import reporting
from writepath.options import Asked, Call

COMMANDS: dict[str, Any] = typer.main.get_command(app).commands  # type: ignore[attr-defined]
EXPORTED = {
    "SEED": "7",
    "POOL_SIZE": "99",
    "RUN": "/nowhere",
    "SUITE": "smoke",
    "VARIANTS": "x",
    "RUNTIME": "podman",
}


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What the commands were asked for, in place of doing it."""
    found: dict[str, Any] = {}

    def keep(name: str) -> Any:
        def kept(call: Call, *values: object, **named: object) -> int:
            found[name] = [*values, *named.values()]
            found["call"] = call
            return 0

        return kept

    monkeypatch.setattr(lock, "exclusive", lambda *_: contextlib.nullcontext())
    for name in ("bench_all", "bench", "bench_faults", "script"):
        monkeypatch.setattr(commands, name, keep(name))
    monkeypatch.setattr(reporting, "report", keep("report"))
    monkeypatch.setattr(services, "run", keep("with_services"))
    return found


def run(*words: str) -> int:
    return cli.run(words)


def test_an_option_and_its_word_are_the_same(asked: dict[str, Any]) -> None:
    run("bench-all", "--suite", "smoke", "--reps=2", "--slo-ms", "50", "--resume", "--set", "INSTANCES=2")
    first = asked["bench_all"]
    run("bench-all", "SUITE=smoke", "REPS=2", "SLO_MS=50", "RESUME=1", "INSTANCES=2")
    assert first == asked["bench_all"]
    given = Given(values={"INSTANCES": "2"})
    assert first == [Asked(suite="smoke", reps=2, of_kind={"SLO_MS": 50}, resume=True, settings=given)]


def test_exported_variables_change_nothing(asked: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in EXPORTED.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("MAKEFLAGS", " -- " + " ".join(f"{name}={value}" for name, value in EXPORTED.items()))
    run("bench-all")
    run("bench-faults")
    run("report")
    run("with-services", "--", "true")
    assert asked["bench_all"] == [Asked()]
    assert asked["bench_faults"] == [Asked(suite="faults")]
    assert asked["report"] == [None]
    assert asked["with_services"] == ["auto", ["true"], print]


def test_an_empty_word_and_a_zero_are_the_default(asked: dict[str, Any]) -> None:
    run("bench-all", "SUITE=", "VARIANTS=", "REPS=", "RESUME=0")
    assert asked["bench_all"] == [Asked()]


def test_a_value_with_commas_is_a_factor(asked: dict[str, Any]) -> None:
    run("bench-all", "POOL_SIZE=5,10", "--set", "RATE=50,100.5", "INSTANCES=2")
    factors = (
        Factor(name="POOL_SIZE", scope="stack", levels=("5", "10")),
        Factor(name="RATE", scope="load", levels=("50", "100.5")),
    )
    assert asked["bench_all"] == [Asked(settings=Given(values={"INSTANCES": "2"}, factors=factors))]


def test_words_behind_two_hyphens_are_passed_on(asked: dict[str, Any]) -> None:
    run("with-services", "RUNTIME=native", "--", "mvn", "-D", "A=b", "--set")
    assert asked["with_services"] == ["native", ["mvn", "-D", "A=b", "--set"], print]


def test_the_lock_says_what_was_typed(asked: dict[str, Any]) -> None:
    run("bench", "VARIANT=jpa", "--seed", "3")
    assert asked["call"].text == "bench VARIANT=jpa --seed 3"


def test_the_scripts_get_their_options_as_arguments(asked: dict[str, Any]) -> None:
    run("test", "RUNTIME=native")
    assert asked["script"] == ["test.sh", "native"]
    run("java-test")
    assert asked["script"] == ["java-test.sh", "auto"]
    run("contract-test", "VARIANTS=jpa,jpa-bigram", "RUNTIME=docker")
    assert asked["script"] == ["contract-test.sh", "docker", "jpa,jpa-bigram"]
    with pytest.raises(UsageError, match="VARIANT=jap"):
        run("contract-test", "VARIANTS=jap")


@pytest.mark.parametrize("name", COMMANDS)
def test_the_help_of_a_command_has_its_options_with_defaults_and_an_example(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(name, "--help") == 0
    text = " ".join(capsys.readouterr().out.split())
    assert f"Examples: wp {name}" in text
    for option in COMMANDS[name].params:
        if option.param_type_name == "option" and option.name != "help":
            entry = re.search(rf"{option.opts[0]} .*?\[(default: .*?|required)\]", text)
            assert entry, option.name
            if getattr(option, "min", None) is not None:
                assert f"{option.min}<=x<={option.max}]" in entry[0]


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("wp bench-all --suite smo", "smoke"),
        ("wp bench-all --variants jpa,rabbitmq-tu", "jpa,rabbitmq-tutorial"),
        ("wp bench-all --set NGINX_KEEP", "NGINX_KEEPALIVE="),
        ("wp up --runtime na", "native"),
        ("wp bench-h", "bench-harness"),
    ],
)
def test_the_shell_completes_names_and_values(
    line: str, offered: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("_WP_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", line)
    monkeypatch.setenv("COMP_CWORD", str(len(line.split()) - 1))
    with pytest.raises(SystemExit) as ended:
        run()
    assert ended.value.code == 0
    assert capsys.readouterr().out.split() == [offered]


ROWS = [
    (["bench-al"], "Did you mean 'bench-all'"),
    (["bench-all", "--sute", "x"], "--suite"),
    (["bench-all", "REP=2"], "REP=2: `bench-all` has no option REP; did you mean 'REPS'?"),
    (["bench-all", "VARIANT=jpa"], "VARIANT=jpa: `bench-all` has no option VARIANT; for one variant: make bench"),
    (["bench-all", "smoke"], "smoke"),
    (["doctor", "SEED=1"], "SEED=1: `doctor` has no option SEED; `doctor` takes no options"),
    (["bench-all", "--set", "STORE=jpa"], "STORE=jpa: there is no setting STORE"),
    (["bench-all", "--set", "POOL_SIZE"], "--set POOL_SIZE: write NAME=value"),
    (["bench-all", "INSTANCES=many"], "INSTANCES=many: must be a whole number from 1 to 65535"),
    (["bench-all", "POOL_SIZE=5,0"], "POOL_SIZE=0: must be a whole number from 1"),
    (["bench-all", "POOL_SIZE=5,5"], "POOL_SIZE=5,5: '5' is listed twice"),
    (["bench-all", "POOL_SIZE=5", "POOL_SIZE=6"], "POOL_SIZE is given twice; several values are POOL_SIZE=one,other"),
    (["bench-all", "RATE=0.5"], "RATE=0.5: must be a number from 1 to 100000"),
    (["bench-all", "ELASTICSEARCH_WRITE_MODE=bulck"], "did you mean 'bulk'?"),
    (["bench-all", "NGINX_IMAGE="], "NGINX_IMAGE=: empty; omit it to use the default nginx:1.26"),
    (["bench-all", "SUITE=smok"], "SUITE=smok: suites.yaml has no such entry; did you mean 'smoke'?"),
    (["bench-all", "SUITE=tuningg"], "did you mean 'tuning'?"),
    (["bench-all", "SUITE=tuning", "SLO_MS=50"], "SLO_MS=50: applies only to capacity and pair suites"),
    (["bench-all", "SUITE=tuning", "VARIANTS=jap"], "did you mean 'jpa'?"),
    (["bench-all", "VARIANTS=jap"], "did you mean 'jpa'?"),
    (["bench-all", "VARIANTS=jpa,jpa"], "VARIANTS=jpa,jpa: 'jpa' is listed twice; to repeat runs, use REPS"),
    (["bench-all", "VARIANTS=,"], "VARIANTS=,: contains no name"),
    (["bench"], "VARIANT is missing: make bench VARIANT=jpa"),
    (["bench-all", "RUNTIME=podman"], "RUNTIME=podman: 'podman' is not one of 'auto', 'native', 'docker'"),
    (["bench-all", "RESUME=yes"], "RESUME=yes: write RESUME=1 or RESUME=0"),
    (["bench-all", "DATASET=/nowhere.csv"], "DATASET="),
    (["bench-all", "SUITE=smoke", "SLO_MS=50"], "SLO_MS=50: applies only to capacity and pair suites; 'smoke' is"),
    (["bench", "VARIANT=jpa", "HOLD_SECONDS=9"], "make bench SUITE=capacity HOLD_SECONDS=9"),
    (["bench-all", "--suite", "smoke", "--reruns", "10"], "RERUNS=10: must be a whole number from 0 to 9"),
    (["bench-all", "SUITE=capacity", "DOCS=5000"], "documents=5000 (DOCS) with operation write"),
    (["bench-all", "SUITE=search", "HOLD_SECONDS=5"], "HOLD_SECONDS=5: applies only to capacity suites; 'search'"),
    (["up", "VARIANT=jpa", "POOL_SIZE=5,10"], "POOL_SIZE=5,10: several values are a factor"),
    (["bench-all", "TRACES=http://127.0.0.1:4318/v1/traces"], "a write would pay for its trace; only `up` takes it"),
    (["bench-all", "SUITE=search", "RATE=100"], "RATE=100: does not apply; 'search' is a search suite"),
    (["bench-all", "RATE=50", "RATE_SCALE=0.5"], "RATE=50 RATE_SCALE=0.5: both set the rate; omit one of them"),
    (["bench-all", "RATE_SCALE=1,2"], "RATE_SCALE=1,2: scales the whole suite. Give one value, or vary RATE"),
    (["bench", "VARIANT=elasticsearch-1s0r", "DATABASE_DELAY_MS=20"],
     "DATABASE_DELAY_MS=20: elasticsearch-1s0r has no database; omit it, or run a variant with one, as in jpa"),
    (["bench-faults", "DATABASE_DELAY_MS=20"], "DATABASE_DELAY_MS=20: does not apply; 'faults' is a faults suite"),
    (["bench-faults", "POOL_SIZE=5,10"], "several values are a factor"),
    (["bench-all", "SUITE=faults"], "run it with `make bench-faults`"),
    (["down", "REPS=2"], "REPS=2: `down` has no option REPS; `down` takes no options"),
    (["campaign", "SUITES=smoke,smoke"], "'smoke' is listed twice"),
    (["bench-all", "SUITE=campaign"], "SUITE=campaign: suites.yaml has no such entry"),
    (["pair", "A=jpa"], "B is missing: make pair B=jpa"),
    (["pair", "A=jap", "B=jpa"], "did you mean 'jpa'?"),
    (["up", "VARIANT=jpa", "RATE=5"], "RATE=5: does not apply; `up` runs no load"),
    (["up", "VARIANT=jpa", "OBSERVE=yes"], "OBSERVE=yes: write OBSERVE=1 or OBSERVE=0"),
    (["bench", "VARIANT=jpa", "OBSERVE=1"], "OBSERVE=1: `bench` has no option OBSERVE; only `up` has it"),
    (["compare", "A=one"], "1 suite runs given; at least 2 are needed"),
    (["compare", "A=one", "B=other", "LABELS=x"], "LABELS=x: 1 labels for 2 suite runs"),
]  # fmt: skip


@pytest.mark.parametrize(("arguments", "words"), ROWS)
def test_usage_errors_are_one_line_and_exit_2(
    arguments: list[str], words: str, capfd: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(arguments) == 2
    error = capfd.readouterr().err
    assert words in error
    assert error.count("\n") == 1


@pytest.mark.parametrize("value", ["0", "-1", "two", "1.5", "9" * 19, "²"])
def test_repetitions_are_a_whole_number_from_one(value: str) -> None:
    with pytest.raises(UsageError, match="REPS="):
        run("bench-all", f"REPS={value}")


@pytest.mark.parametrize("words", [[], ["help"], ["-h"], ["--help"]])
def test_without_a_command_the_commands_are_listed(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(*words) == 0
    listed = capsys.readouterr().out
    assert all(f"  {name} " in listed for name in COMMANDS)


def test_the_settings_are_listed_with_default_and_range(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("settings") == 0
    listed = " ".join(capsys.readouterr().out.split())
    assert "CONSUMERS=1 instances of the consumer behind a queue (a whole number from 1" in listed
    assert "POOL_SIZE=twice the system's processors, and one connections to PostgreSQL" in listed
    assert all(one.help and f"{one.name}=" in listed for one in settings.known(ROOT).values())


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


def test_sigterm_in_a_command_ends_it_as_ctrl_c_does(monkeypatch: pytest.MonkeyPatch) -> None:
    def waiting(*_: object) -> int:
        os.kill(os.getpid(), signal.SIGTERM)
        return 0

    before = signal.getsignal(signal.SIGTERM)
    monkeypatch.setattr(commands, "bench_all", lambda *_: 3)
    assert cli.main(["bench-all"]) == 3  # a command's own exit code
    monkeypatch.setattr(commands, "bench_all", waiting)
    assert cli.main(["bench-all"]) == 130
    assert signal.getsignal(signal.SIGTERM) is before
