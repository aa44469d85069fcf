"""What a runner asks around its loads is asked before them: of every instance, and in a training run."""

from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from experiments.planted_cell import bench
from lifecycle import fakes
from writepath.config.registry import Variant
from writepath.load.plan import ClosedPlan
from writepath.measure import warming


@pytest.mark.parametrize("instances", [1, 2, 3, 4])
def test_every_instance_behind_the_proxy_gets_a_write_and_a_read(instances: int) -> None:
    sent: list[str] = []  # through the proxy, which takes the instances in turns
    truth = SimpleNamespace(
        ingress=SimpleNamespace(urls=("",) * instances),
        store=SimpleNamespace(visible=lambda _: ()),
        read=lambda *_: None,
        empty=lambda: None,
        reading=lambda: None,
        gauges=dict,
        verify_one_write=lambda *_, reads: sent.extend(["write", *["read"] * reads]),
    )
    warming.rehearse(cast("Any", truth), writes=True)
    for first in range(instances):
        assert set(sent[first::instances]) == {"write", "read"}


class Untrained(fakes.FakeRuntime):
    def untrained(self, variant: Variant) -> Sequence[str]:  # noqa: ARG002 - one of them
        return ("app",)

    def make_cache(self, stack: object, component: str) -> None:  # noqa: ARG002 - a fake one
        self.events.append(f"cache of {component}")


def test_the_profiles_of_a_cache_know_what_is_asked_after_a_load(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("CROWD", "TRAINING_PLAN"):
        monkeypatch.setattr(warming, name, ClosedPlan(virtual_users=2, seconds=0.1))
    monkeypatch.setattr(fakes.FakeStack, "terminate", lambda *_: None, raising=False)
    runtime = Untrained()
    warming.train(bench(tmp_path, runtime), fakes.variant(), {})
    load = ["k6", "write"]
    asked = ["posts", *["reset", "write", "posts"] * warming.TRAPS]
    assert runtime.events == ["start", *load, *asked, *load, *asked, "cache of app", "stop"]
