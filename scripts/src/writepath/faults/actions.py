"""How is each fault of a process or a disk done, undone and proved? One class a kind; no fault counts unproved."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from writepath.faults.scene import FaultError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from writepath.faults.scene import Scene

CRASHES = 5
BACKLOG_S = 1.5
LONGEST_S = 60.0  # then it heals by itself, whatever this process does
FULL_BYTES = 1 << 20  # less than one more segment of any store's log


class Action(Protocol):
    """One fault of one trial."""

    def inject(self) -> None:
        """Breaks it."""

    def heal(self) -> None:
        """Mends it; returns at once, however long the part then needs to serve again."""

    def proof(self) -> str:
        """What shows that it happened, in words; empty where nothing does. Asked after the heal."""


class Nothing:
    """The control: whatever is lost here is lost by Writepath itself."""

    def inject(self) -> None:
        """Nothing."""

    def heal(self) -> None:
        """Nothing."""

    def proof(self) -> str:
        """Always."""
        return "no fault injected"


class Kill:
    """kill -9 of every process of a component, with their children."""

    def __init__(self, scene: Scene, component: str) -> None:
        self._scene, self._component = scene, component
        self._before: Mapping[str, str] = {}
        self._between: Mapping[str, str] = {}

    def inject(self) -> None:
        """Gone when it returns."""
        self._before = self._scene.stack.lives(self._component)
        self._scene.stack.kill(self._component)
        self._between = self._scene.stack.lives(self._component)

    def heal(self) -> None:
        """Restarts it, as a supervisor would."""
        self._scene.stack.revive(self._component)

    def proof(self) -> str:
        """All processes are new ones."""
        after = self._scene.stack.lives(self._component)
        changed = [name for name, life in self._before.items() if after.get(name, life) != life]
        if self._between or len(changed) < len(self._before) or not changed:
            return ""
        return f"{', '.join(changed)}: replaced by a new process"


class Pause:
    """SIGSTOP of every process of a component: connections stay open, nothing is answered."""

    def __init__(self, scene: Scene, component: str) -> None:
        self._scene, self._component = scene, component
        self._before: Mapping[str, str] = {}
        self._silent = False
        self._armed: int | None = None

    def inject(self) -> None:
        """Frozen when it returns; somebody else thaws it should this process die."""
        stack = self._scene.stack
        self._before = stack.lives(self._component)
        self._armed = self._scene.deadman.arm(stack.remedies(self._component), LONGEST_S)
        stack.pause(self._component)
        self._silent = not stack.is_ready(self._component)

    def heal(self) -> None:
        """Lets it go on."""
        self._scene.stack.resume(self._component)
        if self._armed is not None:
            self._scene.deadman.disarm(self._armed)

    def proof(self) -> str:
        """It did not answer while it was frozen, and is the same process now."""
        same = self._scene.stack.lives(self._component) == self._before
        return (
            f"{self._component}: no response while frozen, same process afterwards"
            if self._silent and same
            else ""
        )


class KillUnderBacklog:
    """kill -9 of a component with a backlog, because the one behind it is frozen."""

    def __init__(self, scene: Scene, component: str, behind: str) -> None:
        self._scene = scene
        self._behind = Pause(scene, behind)
        self._kill = Kill(scene, component)

    def inject(self) -> None:
        """Freezes what is behind, lets a backlog grow, then kills."""
        self._behind.inject()
        self._scene.wait(BACKLOG_S)
        self._kill.inject()

    def heal(self) -> None:
        """Both."""
        self._behind.heal()
        self._kill.heal()

    def proof(self) -> str:
        """Of both."""
        proofs = (self._behind.proof(), self._kill.proof())
        return "; ".join(proofs) if all(proofs) else ""


class CrashLoop:
    """Repeated kill -9, each time as soon as it serves."""

    def __init__(self, scene: Scene, component: str) -> None:
        self._scene, self._component = scene, component
        self._kills: list[Kill] = []

    def inject(self) -> None:
        """All but the last start; the heal is the last one."""
        for number in range(CRASHES):
            if number:
                self._kills[-1].heal()
                self._scene.ready(self._component)
            kill = Kill(self._scene, self._component)
            kill.inject()
            self._kills.append(kill)

    def heal(self) -> None:
        """Starts it for good."""
        self._kills[-1].heal()

    def proof(self) -> str:
        """Each crash ended a different process."""
        proofs = [kill.proof() for kill in self._kills]
        return f"{len(proofs)} times: {proofs[-1]}" if all(proofs) else ""


class FillDisk:
    """A separate file system, full to the last block."""

    def __init__(self, scene: Scene, component: str) -> None:
        self._scene, self._component = scene, component
        self._left: int | None = None
        self._armed: int | None = None

    def inject(self) -> None:
        """Full when it returns."""
        remedies = self._scene.stack.remedies(self._component)
        self._armed = self._scene.deadman.arm(remedies, LONGEST_S)
        self._left = self._scene.stack.fill_disk(self._component)

    def heal(self) -> None:
        """Space again; what ended for lack of it is started again, as a supervisor would."""
        self._scene.stack.free_disk(self._component)
        if self._armed is not None:
            self._scene.deadman.disarm(self._armed)
        self._scene.stack.revive(self._component)

    def proof(self) -> str:
        """So many bytes were left."""
        if self._left is None or self._left > FULL_BYTES:
            return ""
        return f"{self._component}: {self._left} bytes left on its disk"


class Restart:
    """SIGTERM and a new start, one instance after the other, each waited for."""

    def __init__(self, scene: Scene, component: str, *, rolling: bool) -> None:
        """rolling: all instances, of which one must always serve; otherwise the first one alone."""
        self._scene, self._component, self._rolling = scene, component, rolling
        self._before: Mapping[str, str] = {}

    def inject(self) -> None:
        """All of it: a service of several instances is never down as a whole."""
        stack = self._scene.stack
        before = stack.lives(self._component)
        if self._rolling and len(before) < 2:  # noqa: PLR2004 - one instance cannot be restarted without a gap
            raise FaultError(f"rolling-restart: {self._component} needs INSTANCES=2")
        self._before = before if self._rolling else dict(list(before.items())[:1])
        for name in self._before:
            stack.terminate(self._component, name)
            stack.revive(self._component)
            self._scene.ready(self._component)

    def heal(self) -> None:
        """Nothing is left to do."""

    def proof(self) -> str:
        """All processes are new ones."""
        after = self._scene.stack.lives(self._component)
        changed = [name for name, life in self._before.items() if after.get(name, life) != life]
        return f"{', '.join(changed)}: replaced by a new process" if len(changed) == len(self._before) else ""
