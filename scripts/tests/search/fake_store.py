"""A runtime whose every stack is one store of posts that can be told to lie."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from lifecycle.fakes import Unharmed
from search.fake_posts import FakePosts, Lies
from writepath.config.registry import Variant
from writepath.processors import Split
from writepath.runtime.base import Usage


@dataclass(kw_only=True)
class Stack(Unharmed):
    fake: FakePosts
    events: list[str]
    components: Sequence[str] = ("app",)
    stores: Sequence[str] = ("app",)

    def __post_init__(self) -> None:
        self.base_url = self.load_url = self.fake.base_url

    def inspector_urls(self, _service: str) -> Sequence[str]:
        return (self.fake.inspector_url,)

    def usage(self) -> Mapping[str, Usage]:
        return {}

    def lost_components(self) -> Sequence[str]:
        return ()

    def save_logs(self, folder: Path) -> None:
        folder.mkdir()
        self.events.append("logs")

    def effective_settings(self) -> Mapping[str, Mapping[str, str]]:
        return {}

    def terminate(self, component: str, name: str | None = None) -> None:  # noqa: ARG002 - one process
        self.events.append(f"end {component}")

    def revive(self, component: str) -> None:
        self.events.append(f"start {component}")

    def is_ready(self, component: str) -> bool:  # noqa: ARG002 - one component
        return True


@dataclass(kw_only=True)
class Runtime:
    """lies: of each start, in order; the last one stays."""

    lies: list[Lies] = field(default_factory=lambda: [Lies()])
    events: list[str] = field(default_factory=list)
    interrupted: int | None = None  # the number of the start, from 1, that is answered with Ctrl-C
    generator: tuple[str, ...] = ()  # the command of k6
    name: str = "fake"
    split: Split = field(default_factory=Split.shared)

    @contextmanager
    def start(self, _variant: Variant, **_: object) -> Iterator[Stack]:
        number = self.events.count("start") + 1
        self.events.append("start")
        if number == self.interrupted:
            raise KeyboardInterrupt
        with FakePosts(lies=self.lies[min(number, len(self.lies)) - 1]) as fake:
            yield Stack(fake=fake, events=self.events)
        self.events.append("stop")

    def versions(self, _variant: Variant) -> Mapping[str, str]:
        return {}

    def load_generator(self, _network: str) -> Sequence[Sequence[str]]:
        return [self.generator]
