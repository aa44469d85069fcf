"""What is asked before a load is asked of every instance."""

from types import SimpleNamespace
from typing import Any, cast

import pytest

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
