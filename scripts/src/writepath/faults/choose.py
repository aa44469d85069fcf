"""Which action does a fault's name stand for, on this scene?"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from writepath.faults import actions, catalogue, links
from writepath.faults.catalogue import STORES
from writepath.faults.scene import FaultError

if TYPE_CHECKING:
    from collections.abc import Callable

    from writepath.faults.actions import Action
    from writepath.faults.catalogue import Fault
    from writepath.faults.scene import Scene

LINK_ACTIONS = ("cut", "delay", "reset", "blackhole-from", "blackhole-to")
FINAL_STORES = (STORES["database"], STORES["index"])


def action(fault: Fault, scene: Scene, number: int, broker_password: str) -> Action:
    """A fresh one for each trial; number: the trial's, from 1."""
    if fault.action == "none":
        return actions.Nothing()
    if fault.action == "kill-each":
        parts = catalogue.parts(scene.variant, scene.stack.components)
        return actions.Kill(scene, parts[(number - 1) % len(parts)])
    component = scene.component(fault)
    if fault.action in LINK_ACTIONS:
        return links.BreakLink(scene, fault.action, component)
    if fault.action in ("delete-queue", "delete-binding"):
        what = fault.action.removeprefix("delete-")
        return links.DeleteTopology(scene, what, component, broker_password)
    if fault.action == "kill-under-backlog":
        return actions.KillUnderBacklog(scene, component, _behind(fault, scene))
    kinds: dict[str, Callable[[Scene, str], Action]] = {
        "kill": actions.Kill,
        "pause": actions.Pause,
        "crash-loop": actions.CrashLoop,
        "fill-disk": actions.FillDisk,
        "rolling-restart": partial(actions.Restart, rolling=True),
        "restart": partial(actions.Restart, rolling=False),
    }
    if fault.action not in kinds:
        raise FaultError(f"{fault.key}: unknown action '{fault.action}'")
    return kinds[fault.action](scene, component)


def _behind(fault: Fault, scene: Scene) -> str:
    """What takes the messages off the component's hands."""
    if fault.role == "broker":
        return scene.variant.inspector
    return next(store for store in FINAL_STORES if store in scene.stack.components)
