"""Reads variants.yaml and suites.yaml: which variants, scenarios and suites exist, as checked models."""

import re
from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

from pydantic import AfterValidator, Field
from pydantic.json_schema import SkipJsonSchema

from writepath.config import settings
from writepath.config.checked import (
    Name,
    Names,
    Text,
    Thousandths,
    Value,
    each_once,
    entry,
    load_yaml,
    nearest,
    validated,
)
from writepath.config.settings import Factor, Setting
from writepath.errors import UsageError
from writepath.processors import SPLIT

T = TypeVar("T")
Model = Literal["open", "closed"]
Serves = Literal["writes", "reads"]

VARIANTS_FILE, SUITES_FILE, COMPOSE_FILE = "variants.yaml", "suites.yaml", "docker-compose.yml"
_VARIABLE = re.compile(r"(?<!\$)\$\{([A-Za-z_][A-Za-z0-9_]*)")  # $${X} is a literal ${X}
THOUSANDTHS = 3  # decimals of a rate: k6 takes whole requests per 1,000 s

Rate = Annotated[Thousandths, Field(gt=0, le=100_000, description="Requests/s, with at most three decimals.")]
Seconds = Annotated[Thousandths, Field(gt=0, le=86_400)]
Users = Annotated[int, Field(ge=1, le=10_000)]
WarmUpSeconds = Annotated[
    Thousandths,
    Field(ge=30, le=3_600, description="Until steady; the verdict is unknown where that takes longer."),
]
Minutes = Annotated[int, Field(ge=1, le=100)]
SloMs = Annotated[float, Field(gt=0, le=15_000, description="Limit of the p99 from the scheduled send time.")]
Script = Annotated[
    str,
    Field(
        pattern=r"^k6/scenarios/[a-z0-9-]+\.js$",
        description="a k6 script below the checkout, as in 'k6/scenarios/ramp.js'",
    ),
]


Entries = Field(min_length=1, json_schema_extra={"additionalProperties": False})


@entry
class Variant:
    """Services + backing services + settings."""

    name: SkipJsonSchema[str]
    title: Text
    family: Name
    profiles: Names  # profiles of docker-compose.yml that start its services
    ingress: str  # the service behind the proxy
    inspector: str  # the service whose inspector knows the final store
    acknowledges: Text  # what a 201 guarantees, in words
    naive_twin_of: Name | None = None  # the variant that this one weakens; never ranked with others
    tutorial_of: Name | None = None  # the variant that this one runs with Spring Boot defaults; a baseline
    control_of: Name | None = None  # the variant that this one slows down, to check the comparison
    serves: Serves = "writes"  # reads: nothing is stored, and so nothing audited
    level: Literal["A", "B", "C"] = "A"  # what a 201 guarantees: A on disk, B in memory, C handed over
    settings: dict[str, Value] = field(default_factory=dict)  # variables of docker-compose.yml, taken as text


@entry
class Phase:
    """A straight line of the arrival rate."""

    name: Name
    seconds: Seconds
    from_per_s: Rate
    to_per_s: Rate


@entry
class WarmUp:
    """A closed load before the measured one, excluded from every figure: until the path is steady, or for a time."""

    virtual_users: Users
    at_most_seconds: WarmUpSeconds | None = None
    for_seconds: Seconds | None = None

    @property
    def seconds(self) -> float:
        """How long it takes, at most; until steady: each of its two parts."""
        return self.at_most_seconds or self.for_seconds or 0.0


Reads = Literal[
    "points", "feed", "sessions"
]  # what a load of reads asks for; sessions: log-in and five lists


@entry
class Scenario:
    """One k6 load shape, the same for every variant: phases (open), or virtual users (closed)."""

    name: SkipJsonSchema[str]
    script: Script
    reads: Reads | None = None  # of a load of reads; else it writes posts, or searches
    warm_up: WarmUp | None = None
    phases: tuple[Phase, ...] = ()  # open: requests are sent on schedule whatever the answers do
    virtual_users: Users | None = None  # closed: each waits for its answer
    seconds: Seconds | None = None  # how long the users of a closed load send
    timeout_seconds: Seconds | None = None  # how long k6 waits for an answer; 15 s where it is not given
    pause_after_error_seconds: Seconds | None = (
        None  # how long a user waits after a request that was not served
    )

    @property
    def model(self) -> Model:
        """Whether requests are sent on schedule, or each user waits for its answer."""
        return "open" if self.virtual_users is None else "closed"

    def scaled(self, times: float) -> "Scenario":
        """With every rate so many times as high; the warm-up as before."""

        def scale(per_s: float) -> float:
            return round(per_s * times, THOUSANDTHS)

        phases = tuple(
            replace(one, from_per_s=scale(one.from_per_s), to_per_s=scale(one.to_per_s))
            for one in self.phases
        )
        return replace(self, phases=phases)


@entry
class SuiteEntry:
    """Kind x variants x factors x repetitions. The part named like the kind is checked by the kind."""

    title: Text
    kind: Name  # what is done in a cell: load, capacity, pair, search, faults or ceilings
    scenario: str | None = None  # of kinds that send a load
    repetitions: Annotated[int, Field(ge=1, le=1_000)]
    variants: Names
    baseline: str | None = None  # the others are compared with it; it runs twice in each block (A/A control)
    baseline_levels: dict[str, Value] = field(
        default_factory=dict
    )  # of its factors, where not the first of each
    references: str | None = None  # a suite of another kind whose cells run in each block too
    settings: dict[str, Value] = field(default_factory=dict)  # settings of every cell (make settings)
    factors: dict[str, Annotated[tuple[Value, ...], Field(min_length=2)]] = field(
        default_factory=dict
    )  # settings that are varied: every combination of their levels is a cell
    conditions: Annotated[dict[Name, dict[str, Value]], Field(min_length=2)] | None = (
        None  # by name, settings that together are one level: each is a cell, by itself or with each combination
    )
    processors: Literal["split", "shared"] = (
        "split"  # of load generator and system, where PROCESSORS is not given
    )


@entry
class Member:
    """A suite of a series, and what it runs with there."""

    suite: str
    minutes: Minutes | None = None  # at most, by the estimate; nothing starts where that is more
    runtime: Literal["native", "docker"] | None = None  # null: RUNTIME
    reps: Annotated[int, Field(ge=1, le=1_000)] | None = None  # null: of the suite
    variants: Names | None = None  # null: those of the suite
    faults: Names | None = None  # of a suite of kind faults; null: those of the suite

    @property
    def name(self) -> str:
        """Of what is published of it."""
        return f"{self.suite}-docker" if self.runtime == "docker" else self.suite


def _members_once(members: tuple[Member, ...]) -> tuple[Member, ...]:
    each_once(tuple(member.name for member in members))
    return members


@entry
class Series:
    """Suites that one command runs one after the other, each as a separate suite run."""

    title: Text
    suites: Annotated[tuple[Member, ...], Field(min_length=1), AfterValidator(_members_once)]

    @property
    def names(self) -> list[str]:
        """Of what is published of its suites, in order."""
        return [member.name for member in self.suites]


@dataclass(frozen=True, kw_only=True)
class Suite:
    """An entry of suites.yaml, with the scenario and the variants it names."""

    name: str
    title: str
    kind: str
    scenario: Scenario | None
    repetitions: int
    variants: tuple[Variant, ...]
    baseline: Variant | None = None
    baseline_levels: dict[str, str] = field(default_factory=dict)
    references: str | None = None
    settings: dict[str, str] = field(default_factory=dict)
    factors: tuple[Factor, ...] = ()
    conditions: dict[str, dict[str, str]] | None = None
    processors: str = SPLIT
    params: dict[str, Any] = field(default_factory=dict)  # the part named like the kind, as it is written
    rate_scale: float = 1.0  # RATE_SCALE, by which the scenario's rates are multiplied

    @property
    def load(self) -> Scenario:
        """Its scenario; UsageError where it has none."""
        if self.scenario is None:
            raise UsageError(
                f"{SUITES_FILE}: suites.{self.name}: kind '{self.kind}' sends a load, so it needs a `scenario`"
            )
        return self.scenario

    def scaled(self, times: float) -> "Suite":
        """At RATE_SCALE."""
        return replace(self, scenario=self.load.scaled(times), rate_scale=times)

    def lasting(self, seconds: float) -> "Suite":
        """With SECONDS of a closed load, or of one phase."""
        if self.load.model == "closed":
            return replace(self, scenario=replace(self.load, seconds=seconds))
        phases = tuple(replace(phase, seconds=seconds) for phase in self.load.phases)
        return replace(self, scenario=replace(self.load, phases=phases))

    def checked_params(self, kind: type[T]) -> T:
        """The part named like the kind as a dataclass; UsageError for what it forbids."""
        return validated(kind, self.params, SUITES_FILE, f"suites.{self.name}.{self.kind}")


@entry
class VariantsFile:
    """variants.yaml."""

    variants: Annotated[dict[Name, Variant], Entries]


@entry
class SuitesFile:
    """suites.yaml."""

    scenarios: Annotated[dict[Name, Scenario], Entries]
    suites: Annotated[dict[Name, SuiteEntry], Entries]
    series: dict[Name, Series] = field(default_factory=dict)
    campaign: Series | None = None  # what is published (make campaign)


@dataclass(frozen=True, kw_only=True)
class Registry:
    """Everything that variants.yaml and suites.yaml name."""

    variants: dict[str, Variant]
    scenarios: dict[str, Scenario]
    suites: dict[str, Suite]
    series: dict[str, Series] = field(default_factory=dict)
    campaign: Series | None = None

    def variant(self, name: str) -> Variant:
        """The variant of that name; UsageError names the nearest known one."""
        return _lookup(self.variants, name, "VARIANT", VARIANTS_FILE)

    def suite(self, name: str) -> Suite:
        """The suite of that name; UsageError names the nearest known one."""
        return _lookup(self.suites, name, "SUITE", SUITES_FILE)

    def members(self, name: str) -> tuple[Suite, ...]:
        """The suites of a series in its order, or the one suite; UsageError names the nearest known name."""
        _lookup(dict.fromkeys((*self.suites, *self.series)), name, "SUITE", SUITES_FILE)
        names = [one.suite for one in self.series[name].suites] if name in self.series else [name]
        return tuple(self.suites[one] for one in names)


def load(root: Path) -> Registry:
    """Reads both files below root. UsageError for what their models, docker-compose.yml or .env forbid."""
    data = _named(root / VARIANTS_FILE, "variants")
    variants = validated(VariantsFile, data, VARIANTS_FILE).variants
    compose = root / COMPOSE_FILE
    services = {
        name: frozenset(service.get("profiles", ()))
        for name, service in load_yaml(compose)["services"].items()
    }
    variables = frozenset(_VARIABLE.findall(compose.read_text(encoding="utf-8")))
    for variant in variants.values():
        _check_variant(variant, variants, services, variables)
    data = _named(root / SUITES_FILE, "scenarios")
    params = _taken_params(data)
    file = validated(SuitesFile, data, SUITES_FILE)
    for scenario in file.scenarios.values():
        _check_scenario(root, scenario)
    known = Registry(
        variants=variants,
        scenarios=file.scenarios,
        suites={},
        series=file.series,
        campaign=file.campaign,
    )
    of_settings = settings.known(root)
    for name, one in file.suites.items():
        known.suites[name] = _suite(name, one, params.get(name, {}), known, of_settings)
    for suite in known.suites.values():
        if (other := suite.references) is not None:
            where = f"{SUITES_FILE}: suites.{suite.name}.references"
            _require(other, known.suites, where, f"{SUITES_FILE} has no suite")
            if known.suites[other].kind == suite.kind:
                raise UsageError(f"{where}: '{other}' is of the same kind; name a suite of another kind")
    _check_series(known)
    return known


def _named(file: Path, section: str) -> Any:
    """The data with each entry of a section having its key as its name."""
    data = load_yaml(file)
    entries = data.get(section) if isinstance(data, dict) else None
    if isinstance(entries, dict):
        if named := [name for name, one in entries.items() if isinstance(one, dict) and "name" in one]:
            raise UsageError(
                f"{file.name}: {section}.{named[0]}.name: the entry's key is its name; remove `name`"
            )
        data[section] = {
            name: {**one, "name": name} if isinstance(one, dict) else one for name, one in entries.items()
        }
    return data


def _taken_params(data: Any) -> dict[str, dict[str, Any]]:
    """By suite, the part named like its kind, taken out of the data: what it may hold, only its kind knows."""
    suites = data.get("suites") if isinstance(data, dict) else None
    entries = suites.items() if isinstance(suites, dict) else ()
    return {
        name: validated(
            dict[str, Any], entry.pop(entry["kind"]), SUITES_FILE, f"suites.{name}.{entry['kind']}"
        )
        for name, entry in entries
        if isinstance(entry, dict) and isinstance(entry.get("kind"), str) and entry["kind"] in entry
    }


def _check_variant(
    variant: Variant,
    variants: dict[str, Variant],
    services: dict[str, frozenset[str]],
    variables: Collection[str],
) -> None:
    """services: of docker-compose.yml, with the profiles of each; variables: what the file refers to."""
    where = f"{VARIANTS_FILE}: variants.{variant.name}"
    profiles = frozenset[str]().union(*services.values())
    for profile in variant.profiles:
        _require(profile, profiles, f"{where}.profiles", f"{COMPOSE_FILE} has no profile")
    for role in ("ingress", "inspector"):
        service = getattr(variant, role)
        _require(service, services, f"{where}.{role}", f"{COMPOSE_FILE} has no service")
        if not services[service].intersection(variant.profiles):
            starters = ", ".join(sorted(services[service]))
            raise UsageError(
                f"{where}.{role}: none of its profiles starts '{service}'; add one of: {starters}"
            )
    for setting in variant.settings:
        _require(setting, variables, f"{where}.settings", f"{COMPOSE_FILE} has no variable")
    for key in ("naive_twin_of", "tutorial_of", "control_of"):
        if (twin := getattr(variant, key)) is not None:
            _require(twin, variants, f"{where}.{key}", f"{VARIANTS_FILE} has no variant")
            if variants[twin].naive_twin_of is not None:
                raise UsageError(
                    f"{where}.{key}: '{twin}' is itself a weakened control; name a correct variant"
                )


def _check_scenario(root: Path, scenario: Scenario) -> None:
    where = f"{SUITES_FILE}: scenarios.{scenario.name}"
    if not (root / scenario.script).is_file():
        raise UsageError(f"{where}.script: there is no {scenario.script}")
    names = Counter(phase.name for phase in scenario.phases)
    twice = next((name for name, times in names.items() if times > 1), None)
    if twice is not None:
        raise UsageError(
            f"{where}.phases: two phases are named '{twice}'; reports need a different name for each"
        )
    warm_up = scenario.warm_up
    if warm_up is not None and (warm_up.at_most_seconds is None) == (warm_up.for_seconds is None):
        raise UsageError(
            f"{where}.warm_up: needs either at_most_seconds (until the path is steady) or for_seconds (a fixed time)"
        )
    closed = (scenario.virtual_users, scenario.seconds)
    if bool(scenario.phases) == (None not in closed) or (scenario.phases and closed != (None, None)):
        raise UsageError(
            f"{where}: needs either phases (open load) or virtual_users and seconds (closed load)"
        )
    if scenario.phases and scenario.pause_after_error_seconds is not None:
        raise UsageError(
            f"{where}.pause_after_error_seconds: an open load sends on schedule; leave it out, or give virtual_users"
        )


def _check_series(known: Registry) -> None:
    """Those of SUITE= and the campaign."""
    for name in known.series:
        if name in known.suites:
            raise UsageError(f"{SUITES_FILE}: series.{name}: a suite has this name; choose another one")
    named = {f"series.{name}": one for name, one in known.series.items()}
    if known.campaign is not None:
        named["campaign"] = known.campaign
    for place, series in named.items():
        for member in series.suites:
            where = f"{SUITES_FILE}: {place}.suites"
            _require(member.suite, known.suites, where, f"{SUITES_FILE} has no suite")


def _suite(
    name: str, entry: SuiteEntry, params: dict[str, Any], files: Registry, known: dict[str, Setting]
) -> Suite:
    where = f"{SUITES_FILE}: suites.{name}"
    if entry.scenario is not None:
        _require(entry.scenario, files.scenarios, f"{where}.scenario", f"{SUITES_FILE} has no scenario")
    for variant in entry.variants:
        _require(variant, files.variants, f"{where}.variants", f"{VARIANTS_FILE} has no variant")
        _check_ranked(files.variants[variant], where)
    if entry.baseline is not None:
        _require(entry.baseline, entry.variants, f"{where}.baseline", "the suite has no variant")
    for setting, value in entry.settings.items():
        _require(setting, known, f"{where}.settings", "there is no setting")
        known[setting].checked(value, f"{where}.settings: ")
    factors = _factors(entry, where, known)
    fields = vars(entry) | {
        "scenario": None if entry.scenario is None else files.scenarios[entry.scenario],
        "variants": tuple(files.variants[variant] for variant in entry.variants),
        "baseline": None if entry.baseline is None else files.variants[entry.baseline],
        "factors": tuple(factors),
    }
    return Suite(name=name, params=params, **fields)


def _factors(entry: SuiteEntry, where: str, known: dict[str, Setting]) -> list[Factor]:
    """The settings that are varied; UsageError for what is wrong with them, the conditions or the baseline's levels."""
    factors = []
    for setting, levels in entry.factors.items():
        _require(setting, known, f"{where}.factors", "there is no setting")
        if setting in entry.settings:
            raise UsageError(f"{where}: '{setting}' is both a setting and a factor; remove one of them")
        factors.append(known[setting].factor(levels, f"{where}.factors: "))
    for condition, own in (entry.conditions or {}).items():
        for setting, value in own.items():
            _require(setting, known, f"{where}.conditions.{condition}", "there is no setting")
            known[setting].checked(value, f"{where}.conditions.{condition}: ")
            if setting in entry.factors:
                raise UsageError(
                    f"{where}: '{setting}' is both a factor and part of a condition; remove one of them"
                )
    of_level = {factor.name: factor.levels for factor in factors}
    if entry.conditions:
        of_level[settings.CONDITION] = tuple(entry.conditions)
    for setting, level in entry.baseline_levels.items():
        _require(setting, of_level, f"{where}.baseline_levels", "the suite has no factor")
        _require(level, of_level[setting], f"{where}.baseline_levels.{setting}", "the factor has no level")
    return factors


def _check_ranked(variant: Variant, where: str) -> None:
    if twin := variant.naive_twin_of or variant.control_of:
        what = f"a weakened control of '{twin}', only for fault runs"
        if variant.control_of:
            what = "slowed down on purpose, to check the comparison"
        raise UsageError(
            f"{where}.variants: '{variant.name}' is {what}; no suite may rank it. List '{twin}' instead"
        )


def _require(name: str, known: Iterable[str], where: str, problem: str) -> None:
    if name not in known:
        raise UsageError(f"{where}: {problem} '{name}'; {nearest(name, known)}")


def _lookup(table: dict[str, T], name: str, flag: str, file: str) -> T:
    if name not in table:
        raise UsageError(f"{flag}={name}: {file} has no such entry; {nearest(name, table)}")
    return table[name]
