"""Load generator and system under test have processors of their own, from the start of each process."""

import os
from pathlib import Path

import pytest
import yaml

from native_stack import of_each
from writepath import commands, processors
from writepath.config import registry
from writepath.config.settings import Given
from writepath.errors import UsageError
from writepath.experiments import plan as planning
from writepath.load import dataset, k6, ledger, plan
from writepath.options import Asked, Call
from writepath.processors import Split, choose, divided, listed, parsed
from writepath.runtime import topology
from writepath.runtime.native import NativeRuntime
from writepath.runtime.native.stack import NativeStack

ROOT = Path(__file__).resolve().parents[2]


def of_machine(*cores: str) -> str | None:
    """How it is split, by the threads of each core."""
    groups = {number: parsed(core) for core in cores for number in parsed(core)}
    return divided(groups, groups).text


def test_the_generator_gets_about_a_third_in_whole_cores_and_at_least_one() -> None:
    assert of_machine("0", "1") == "1/0"
    assert of_machine("0-1") == "1/0"  # one core with two threads: they are all there is
    assert of_machine("0", "1", "2", "3") == "3/0-2"
    assert of_machine("0,4", "1,5", "2,6", "3,7") == "3,7/0-2,4-6"
    assert of_machine(*map(str, range(16))) == "11-15/0-10"


def test_one_processor_is_shared_with_a_warning_and_lists_are_taken_as_they_are(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    said: list[str] = []
    for mask, asked, text, design in (
        ("5", "split", None, "shared"),
        ("0-7", "shared", None, "shared"),
        ("0-7", "0-1,4/2,3", "0-1,4/2-3", "0-1,4/2,3 (3 + 2)"),
    ):
        monkeypatch.setattr(processors, "available", lambda mask=mask: parsed(mask))
        found = choose(asked, said.append)
        assert (found.text, found.design) == (text, design)
        assert text is None or Split.recorded(text).text == text
    assert said == [
        "PROCESSORS=split: there is one processor only; load generator and system under test share it"
    ]


@pytest.mark.parametrize(
    ("asked", "why"),
    [
        ("half", "not one slash between two lists"),
        ("0/1/2", "not one slash between two lists"),
        ("/1", "'' is not a list of processors"),
        ("0/1-", "'1-' is not a list of processors"),
        ("3-1/0", "a list is empty"),
        ("0/1-2", "processor 2 is not available to this process"),
        ("0-1/1", "both lists have processor 1"),
    ],
)
def test_lists_that_cannot_be_used_are_refused_with_option_value_and_remedy(
    asked: str, why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(processors, "available", lambda: frozenset({0, 1}))
    call = Call(root=ROOT, command="up")
    with pytest.raises(UsageError, match="Available: 0-1") as caught:
        commands.up(call, "jpa", "native", asked, Given())
    assert str(caught.value).startswith(f"PROCESSORS={asked}: {why}")


def test_a_suite_may_share_them_unless_the_user_says_otherwise() -> None:
    def asked(suite: str, processors: str | None = None) -> str:
        call = Call(root=ROOT, command="bench-all")
        return planning.plan(call, Asked(suite=suite, processors=processors)).processors

    assert [asked("faults"), asked("smoke")] == ["shared", "split"]
    assert asked("faults", "0/1") == "0/1"


def test_what_depends_on_their_number_follows_those_of_the_system() -> None:
    split = Split(generator=frozenset({3}), system=frozenset({0, 1, 2}), asked="split")
    for profiles, processors_of_a_node, write_threads in (
        (["jpa"], "3", "4"),
        (["elasticsearch", "replica"], "1", "2"),
    ):
        assert topology.derived(ROOT, profiles, split, {}) == {
            "IMAGE_TAG": topology.checkout_key(ROOT),
            "SYSTEM_PROCESSORS": "0-2",
            "ELASTICSEARCH_PROCESSORS": processors_of_a_node,
            "ELASTICSEARCH_WRITE_THREADS": write_threads,
            "JVM_PROCESSORS": "-XX:ActiveProcessorCount=3",
            "APPLICATION_JVM_PROCESSORS": "-XX:ActiveProcessorCount=3",
            "POOL_SIZE": "7",
        }
    assert topology.derived(ROOT, ["jpa"], Split.shared(), {})["SYSTEM_PROCESSORS"] == ""


def test_no_service_of_the_topology_escapes_the_split() -> None:
    services = yaml.safe_load((ROOT / topology.FILE).read_text(encoding="utf-8"))["services"]
    assert {name: each["cpuset"] for name, each in services.items()} == dict.fromkeys(
        services, "${SYSTEM_PROCESSORS:-}"
    )


def allowed(pid: int) -> set[str]:
    """Of every thread of a process, as the kernel has it."""
    found = set()
    for status in Path(f"/proc/{pid}/task").glob("*/status"):
        lines = status.read_text(encoding="ascii", errors="replace").splitlines()
        found.add(next(line.split()[1] for line in lines if line.startswith("Cpus_allowed_list")))
    return found


def masks(stack: NativeStack) -> dict[str, set[str]]:
    """By name, of all its processes."""
    found: dict[str, set[str]] = {}
    for name, mask in of_each(stack, lambda process: (process.name(), allowed(process.pid))):
        found.setdefault(name, set()).update(mask)
    return found


@pytest.mark.native
def test_every_process_of_a_stack_and_its_load_keeps_to_its_side(tmp_path: Path) -> None:
    """A revived one, too; with a k6 for each of the generator's; afterwards this process has all again.

    JVMs, which are told how many to count on, may use all of them until the load begins.
    """
    first, second = sorted(processors.available())[:2]
    split = Split(generator=frozenset({first, second}), system=frozenset({first}))
    runtime, jpa = NativeRuntime(ROOT, split), registry.load(ROOT).variant("jpa")
    runtime.reap(print)
    runtime.prepare([jpa], print)
    dataset.generate(1, 7).write(tmp_path / "content.json")
    with split.confined(), runtime.start(jpa, overrides={}, say=print) as stack:
        assert isinstance(stack, NativeStack)
        load = k6.Load(
            script=ROOT / "k6/scenarios/ramp.js",
            target=stack.load_url,
            run_id=plan.new_run_id(),
            plan=plan.constant_plan("load", 200, 100),
            content=tmp_path / "content.json",
            folder=tmp_path,
        )
        with k6.Generator(load, runtime.load_generator(stack.network)) as generator:
            senders = [allowed(pid) for pid in (os.getpid(), *generator.pids)]
            result = generator.result()
        assert senders == [{listed(split.generator)}] * 3
        assert (result.processes, len(result.parts), result.complete) == (2, 2, True)
        assert min(result.parts) > 0
        assert sum(result.parts) + (result.dropped or 0) == 200
        assert ledger.read(result.ledger).acknowledged().any()
        with stack.spread():
            spread = masks(stack)
            stack.kill("jpa-writer")
            stack.revive("jpa-writer")
            assert masks(stack) == spread
        own = {listed(split.system)}
        assert masks(stack) == {"java": own, "nginx": own, "postgres": own}
        assert spread == {"java": {listed(split.all)}, "nginx": own, "postgres": own}
    assert allowed(os.getpid()) == {listed(processors.available())}
