"""Settings that a user or a suite may set or vary: the variables of .env, and those of the load.

Name, default and help of a stack's setting are in .env; the load's are declared here. Several values, separated by
commas, make a setting a factor: each combination of the factors' levels is a cell.
"""

import itertools
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from writepath.config.checked import entry, nearest
from writepath.errors import UsageError

Scope = Literal["stack", "load"]

ENV_FILE = ".env"
WHOLE = (1, 65_535)
NOT_SETTABLE = ("STORE", "CONTROL")  # are what a variant is
_DECIMALS = ("APPLICATION_CPUS",)
_RANGES = {
    "APPLICATION_CPUS": (0, 64),
    "CONNECTION_TIMEOUT_MS": (250, 60_000),  # HikariCP takes no less
    "DATABASE_DELAY_MS": (0, 300),  # more, and a pool that checks a connection gives up after its 1 s
    "ELASTICSEARCH_LINGER_MS": (0, 500),
    "ELASTICSEARCH_REPLICAS": (0, 1),
    "ELASTICSEARCH_WRITE_THREADS": (1, 64),
    "POOL_MIN_IDLE": (0, 10_000),
    "POSTGRES_CONNECTIONS_MAX": (5, 10_000),  # three are reserved
    "POSTGRES_INSERTS_IN_FLIGHT": (1, 64),
    "RABBITMQ_MESSAGE_POSTS": (1, 10_000),
    "RABBITMQ_MESSAGE_KIB": (1, 8_192),  # RabbitMQ 4 takes 16 MiB at most
    "RABBITMQ_MESSAGES_UNCONFIRMED": (1, 1_000),
    "RABBITMQ_CONSUMER_LINGER_MS": (1, 10_000),
    "READER_USERS": (1, 1_000_000),
    "READER_POINTS": (1, 2_000_000),  # more, and a start takes longer than the runner waits
    "READER_EXHIBITIONS": (5, 100_000),  # a feed shows five
    "TOMCAT_THREADS": (1, 10_000),
    "NGINX_WORKER_CONNECTIONS": (64, 16_384),
    "NGINX_WORKER_RLIMIT_NOFILE": (0, 16_384),
    "NGINX_OPEN_FILES": (128, 16_384),
    "NGINX_KEEPALIVE": (0, 16_384),
    "NGINX_CONNECT_TIMEOUT_SECONDS": (1, 75),  # nginx caps it there
    "NGINX_BODY_MAX_KIB": (1, 1_048_576),
}
_DERIVED = {  # empty in .env: the runner computes them
    "ELASTICSEARCH_WRITE_THREADS": "one more than the node has processors",
    "POOL_SIZE": "twice the system's processors, and one",
}
_SWITCH = ("true", "false")
_WORDS = {
    "AOT_CACHE": ("none", "trained"),
    "APPLICATION_GC": ("G1", "Serial", "Parallel"),  # ZGC cannot use a cache of JDK 25
    "FEED_STRATEGY": ("per-parent", "by-key", "denormalised", "two-queries"),
    "VIRTUAL_THREADS": _SWITCH,
    "ELASTICSEARCH_LANES": ("per-shard", "one"),
    "ELASTICSEARCH_WRITE_MODE": ("bulk", "single"),
    "ELASTICSEARCH_TRANSLOG_DURABILITY": ("request", "async"),
    "ELASTICSEARCH_IDS": ("own", "auto"),
    "ELASTICSEARCH_SEARCH_INDEX": ("words", "bigrams"),
    "POSTGRES_SYNCHRONOUS_COMMIT": ("on", "off", "local", "remote_write", "remote_apply"),
    "POSTGRES_FSYNC": ("on", "off"),
    "POSTGRES_SEARCH_INDEX": ("none", "trigram", "bigram"),
    "POSTGRES_WRITE_MODE": ("single", "batched"),
    "RABBITMQ_QUEUE_TYPE": ("quorum", "classic", "classic-v2", "classic-transient"),
    "RABBITMQ_PUBLISHER_CONFIRMS": _SWITCH,
    "RABBITMQ_PUBLISHER_MANDATORY": _SWITCH,
    "RABBITMQ_CONSUMER_ACKNOWLEDGE": ("after-store", "on-delivery"),
}


@entry
class Factor:
    """A setting that is varied."""

    name: str  # POOL_SIZE
    scope: Scope  # stack: each level needs a fresh start; load: cells share one warm stack
    levels: tuple[str, ...]


CONDITION = "CONDITION"  # a factor whose levels are names; each stands for several settings


@dataclass(frozen=True, kw_only=True)
class Setting:
    """What a setting may be. A stack's needs a fresh start; cells that differ in one of the load share a warm stack."""

    name: str
    default: str  # in words where the scenario has it
    scope: Scope
    help: str
    range: tuple[float, float] | None = None
    words: tuple[str, ...] = ()
    decimals: bool = False  # up to three

    @property
    def allowed(self) -> str:
        """Its values in words."""
        if self.range is not None:
            kind = "a number" if self.decimals else "a whole number"
            return f"{kind} from {self.range[0]} to {self.range[1]}"
        return f"one of {', '.join(self.words)}" if self.words else "text"

    def checked(self, value: str, where: str = "") -> str:
        """The value, if it is allowed; UsageError says what is. where: before the name."""
        if not value:
            raise UsageError(f"{where}{self.name}=: empty; omit it to use the default {self.default}")
        pattern = r"[0-9]{1,6}(\.[0-9]{1,3})?" if self.decimals else r"[0-9]{1,18}"
        number = float(value) if re.fullmatch(pattern, value, re.ASCII) else None
        low, high = self.range or (0, 0)
        if self.range is not None and (number is None or not low <= number <= high):
            raise UsageError(f"{where}{self.name}={value}: must be {self.allowed}")
        if self.words and value not in self.words:
            raise UsageError(f"{where}{self.name}={value}: {nearest(value, self.words)}")
        return value

    def factor(self, levels: Sequence[str], where: str = "") -> Factor:
        """It, varied over the levels; UsageError for a wrong level and for one that is listed twice."""
        for level in levels:
            self.checked(level, where)
        twice = next((level for level in levels if levels.count(level) > 1), None)
        if twice is not None:
            raise UsageError(
                f"{where}{self.name}={','.join(levels)}: '{twice}' is listed twice; to repeat, use REPS"
            )
        return Factor(name=self.name, scope=self.scope, levels=tuple(levels))


LOAD = (
    Setting(
        name="VIRTUAL_USERS",
        default="of the scenario; open load: computed",
        scope="load",
        help="users of a closed load; of an open load, the most requests in flight",
        range=(1, 10_000),
    ),
    Setting(
        name="SECONDS",
        default="of the scenario",
        scope="load",
        help="how long the users of a closed load send, or the one phase of an open one lasts",
        range=(1, 3_600),
    ),
    Setting(
        name="RATE",
        default="of the scenario",
        scope="load",
        help="peak of an open load, requests/s; every phase is scaled alike",
        range=(1, 100_000),
        decimals=True,
    ),
    Setting(
        name="RATE_SCALE",
        default="1",
        scope="load",
        help="multiplies every rate of the suite's scenario; not together with RATE",
        range=(0.001, 1_000),
        decimals=True,
    ),
    Setting(
        name="RATE_TIMES",
        default="1",
        scope="load",
        help="multiplies the rate that a suite finds, or RATE in its place; only of such a suite",
        range=(0.1, 10),
        decimals=True,
    ),
)
OF_LOAD = frozenset(setting.name for setting in LOAD)


@dataclass(frozen=True, kw_only=True)
class Given:
    """Settings of an experiment: one value each, or several."""

    values: Mapping[str, str] = field(default_factory=dict)
    factors: tuple[Factor, ...] = ()

    def over(self, values: Mapping[str, str], factors: Iterable[Factor]) -> "Given":
        """These, and of the others (a suite's) those that these do not name."""
        mine = {*self.values, *(factor.name for factor in self.factors)}
        kept = tuple(factor for factor in factors if factor.name not in mine)
        return Given(
            values={name: value for name, value in values.items() if name not in mine} | dict(self.values),
            factors=(*kept, *self.factors),
        )

    def levels(self, name: str) -> tuple[str, ...]:
        """Its one value, or several; none where it is not given."""
        of_factors = (factor.levels for factor in self.factors if factor.name == name)
        return next(of_factors, (self.values[name],) if name in self.values else ())

    def require_single(self, what: str) -> None:
        """UsageError for several values, where `what` cannot use them."""
        for factor in self.factors:
            raise UsageError(
                f"{factor.name}={','.join(factor.levels)}: several values are a factor, which only suites have;"
                f" {what}. Give one value"
            )

    def refuse(self, names: Iterable[str], what: str) -> None:
        """UsageError for settings that change nothing of `what`."""
        for name in sorted(names):
            if levels := self.levels(name):
                raise UsageError(f"{name}={','.join(levels)}: does not apply; {what}. Omit it")


def known(root: Path) -> dict[str, Setting]:
    """Every setting by name: the variables of .env in its order, then the load's."""
    return {setting.name: setting for setting in (*_of_env_file(root), *LOAD)}


def parse(words: Sequence[str], settings: Mapping[str, Setting]) -> Given:
    """`NAME=value` and `NAME=value,value`. UsageError for an unknown name, a wrong value and a name given twice."""
    values: dict[str, str] = {}
    factors: dict[str, Factor] = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not equals:
            raise UsageError(f"--set {word}: write NAME=value, as in --set POOL_SIZE=10")
        if name not in settings:
            raise UsageError(f"{word}: there is no setting {name}; {nearest(name, settings)}")
        if name in values or name in factors:
            raise UsageError(f"{word}: {name} is given twice; several values are {name}=one,other")
        levels = [level.strip() for level in value.split(",")]
        if len(levels) > 1:
            factors[name] = settings[name].factor(levels)
        else:
            values[name] = settings[name].checked(value)
    return Given(values=values, factors=tuple(factors.values()))


def of_stack(values: Mapping[str, str]) -> dict[str, str]:
    """Those that a stack is started with: variables of docker-compose.yml."""
    return {name: value for name, value in values.items() if name not in OF_LOAD}


def combinations(factors: Sequence[Factor]) -> tuple[dict[str, str], ...]:
    """The levels of each cell, by factor: every combination, the last factor varying fastest."""
    named = [[(factor.name, level) for level in factor.levels] for factor in factors]
    return tuple(dict(levels) for levels in itertools.product(*named))


def table(root: Path) -> str:
    """Every setting in a line: for `make settings`."""
    return "\n".join(
        f"  {one.name}={one.default}\n      {one.help} ({one.allowed}; scope {one.scope})"
        for one in known(root).values()
    )


def _of_env_file(root: Path) -> list[Setting]:
    found: list[Setting] = []
    comments: list[str] = []
    for raw in (root / ENV_FILE).read_text(encoding="utf-8").splitlines():
        line = raw.strip()
        if line.startswith("#"):
            comments.append(line.lstrip("# "))
            continue
        name, equals, default = line.partition("=")
        if equals and name not in NOT_SETTABLE:
            whole = default.isdecimal() or name in _DERIVED
            found.append(
                Setting(
                    name=name,
                    default=default or _DERIVED[name],
                    scope="stack",
                    help=" ".join(comments),
                    range=_RANGES.get(name, WHOLE) if whole else None,
                    words=_WORDS.get(name, ()),
                    decimals=name in _DECIMALS,
                )
            )
        comments = []
    return found
