"""The faults of a stack that no test lets happen."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


class Unharmed:
    """Base of a stack of which nothing is killed, frozen or filled."""

    stores: Sequence[str] = ()

    def lives(self, component: str) -> Mapping[str, str]:
        return {component: "1-1"}

    def kill(self, component: str, name: str | None = None) -> None:
        raise NotImplementedError(component, name)

    def terminate(self, component: str, name: str | None = None) -> None:
        raise NotImplementedError(component, name)

    def revive(self, component: str) -> None:
        raise NotImplementedError(component)

    def pause(self, component: str, name: str | None = None) -> None:
        raise NotImplementedError(component, name)

    def resume(self, component: str, name: str | None = None) -> None:
        raise NotImplementedError(component, name)

    def remedies(self, component: str) -> Sequence[Mapping[str, Any]]:
        raise NotImplementedError(component)

    def is_ready(self, component: str) -> bool:
        raise NotImplementedError(component)

    def address(self, component: str, port: int) -> str:
        raise NotImplementedError(component, port)

    def fill_disk(self, component: str) -> int:
        raise NotImplementedError(component)

    def free_disk(self, component: str) -> None:
        raise NotImplementedError(component)
