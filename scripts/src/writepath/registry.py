"""Which variants, scenarios and suites exist? Reads variants.yaml and suites.yaml into frozen records."""

from __future__ import annotations

import difflib
import json
import re
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

import jsonschema

from writepath import strict_yaml
from writepath.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

T = TypeVar("T")

COMPOSE_FILE = "docker-compose.yml"
_VARIABLE = re.compile(r"(?<!\$)\$\{([A-Za-z_][A-Za-z0-9_]*)")  # $${X} is a literal ${X}
_TYPES = {
    "string": "text",
    "number": "a number",
    "integer": "a whole number",
    "object": "a mapping of keys to values",
    "array": "a list",
}


@dataclass(frozen=True, kw_only=True)
class Variant:
    """Services + backing services + settings, as in variants.yaml."""

    name: str
    title: str
    family: str
    profiles: tuple[str, ...]
    ingress: str
    inspector: str
    acknowledges: str
    naive_twin_of: str | None = None  # the correct variant that it spoils by a setting
    tutorial_of: str | None = None  # the variant it does as tutorials have it; a line of reference beside it
    control_of: str | None = (
        None  # the variant it slows by a setting, to try the comparison itself; never ranked
    )
    level: str = "A"  # what a 201 is declared to promise
    settings: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Phase:
    """A straight line of the arrival rate."""

    name: str
    seconds: float
    from_per_s: float
    to_per_s: float


@dataclass(frozen=True, kw_only=True)
class WarmUp:
    """Requests before the load, excluded from every figure."""

    requests: int
    rate_per_s: float


@dataclass(frozen=True, kw_only=True)
class Scenario:
    """One k6 load shape, the same for every variant."""

    name: str
    script: str
    phases: tuple[Phase, ...]
    warm_up: WarmUp | None = None


@dataclass(frozen=True, kw_only=True)
class Goal:
    """What a suite that searches for capacity asks of a rate."""

    slo_ms: float  # of the 99th percentile, from the planned moment
    begins_per_s: float | None = None  # the ramp; None: at the lowest rate


@dataclass(frozen=True, kw_only=True)
class Questions(Goal):
    """What a suite that asks for posts stores, and asks one client's way before it searches for capacity."""

    documents: int
    rounds: int
    keywords: tuple[str, ...]  # of the rounds


@dataclass(frozen=True, kw_only=True)
class Suite:
    """Variants x scenario x repetitions."""

    name: str
    title: str
    scenario: Scenario
    repetitions: int
    variants: tuple[Variant, ...]
    baseline: Variant | None = None  # runs twice in each block; the others are compared with it
    capacity: Goal | None = (
        None  # the suite searches for capacity: the scenario's one phase says between which rates
    )
    queries: Questions | None = None  # likewise, for the capacity of searches


@dataclass(frozen=True, kw_only=True)
class Registry:
    """Everything that variants.yaml and suites.yaml name."""

    root: Path
    variants: dict[str, Variant]
    scenarios: dict[str, Scenario]
    suites: dict[str, Suite]

    def variant(self, name: str) -> Variant:
        """The variant of that name; UsageError names the nearest known one."""
        return _lookup(self.variants, name, "VARIANT", "variants.yaml")

    def suite(self, name: str) -> Suite:
        """The suite of that name; UsageError names the nearest known one."""
        return _lookup(self.suites, name, "SUITE", "suites.yaml")


def load(root: Path) -> Registry:
    """Reads both files below root. UsageError for what their JSON Schemas or the compose file forbid."""
    variants_data = checked_yaml(root, "variants")
    suites_data = checked_yaml(root, "suites")
    topology = _topology(root)
    variants = {name: _variant(name, entry, topology) for name, entry in variants_data["variants"].items()}
    _require_sound_twins(variants)
    scenarios = {name: _scenario(root, name, entry) for name, entry in suites_data["scenarios"].items()}
    suites = {name: _suite(name, entry, scenarios, variants) for name, entry in suites_data["suites"].items()}
    return Registry(root=root, variants=variants, scenarios=scenarios, suites=suites)


def nearest(name: str, known: Iterable[str]) -> str:
    """`did you mean 'X'?` where one is near, else the known names."""
    names = sorted(known)
    close = difflib.get_close_matches(name, names, n=1, cutoff=0.6)
    return f"did you mean '{close[0]}'?" if close else f"known: {', '.join(names)}"


@dataclass(frozen=True, kw_only=True)
class _Topology:
    """What docker-compose.yml has to offer."""

    services: dict[str, frozenset[str]]  # name and profiles
    variables: frozenset[str]

    @property
    def profiles(self) -> frozenset[str]:
        return frozenset().union(*self.services.values())


def _topology(root: Path) -> _Topology:
    path = root / COMPOSE_FILE
    services = strict_yaml.load(path)["services"]
    return _Topology(
        services={name: frozenset(service.get("profiles", ())) for name, service in services.items()},
        variables=frozenset(_VARIABLE.findall(path.read_text(encoding="utf-8"))),
    )


def _variant(name: str, entry: dict[str, Any], topology: _Topology) -> Variant:
    where = f"variants.yaml: variants.{name}"
    for profile in entry["profiles"]:
        _require(profile, topology.profiles, f"{where}.profiles", f"{COMPOSE_FILE} has no profile")
    for role in ("ingress", "inspector"):
        service = entry[role]
        _require(service, topology.services, f"{where}.{role}", f"{COMPOSE_FILE} has no service")
        if not topology.services[service].intersection(entry["profiles"]):
            starters = ", ".join(sorted(topology.services[service]))
            raise UsageError(
                f"{where}.{role}: none of its profiles starts '{service}'; add one of: {starters}"
            )
    for setting in entry.get("settings", {}):
        _require(setting, topology.variables, f"{where}.settings", f"{COMPOSE_FILE} has no variable")
    settings = {key: str(value) for key, value in entry.get("settings", {}).items()}
    return Variant(**(entry | {"name": name, "profiles": tuple(entry["profiles"]), "settings": settings}))


def _require_sound_twins(variants: dict[str, Variant]) -> None:
    for variant in variants.values():
        for key in ("naive_twin_of", "tutorial_of", "control_of"):
            twin = getattr(variant, key)
            if twin is None:
                continue
            where = f"variants.yaml: variants.{variant.name}.{key}"
            _require(twin, variants, where, "variants.yaml has no variant")
            if variants[twin].naive_twin_of is not None:
                raise UsageError(f"{where}: '{twin}' is itself a weakened control; name a correct variant")


def _scenario(root: Path, name: str, entry: dict[str, Any]) -> Scenario:
    where = f"suites.yaml: scenarios.{name}"
    if not (root / entry["script"]).is_file():
        raise UsageError(f"{where}.script: there is no {entry['script']}")
    names = Counter(phase["name"] for phase in entry["phases"])
    twice = [phase for phase, times in names.items() if times > 1]
    if twice:
        raise UsageError(
            f"{where}.phases: two phases are named '{twice[0]}'; reports need a different name for each"
        )
    phases = tuple(
        Phase(
            name=phase["name"],
            seconds=_thousandths(phase["seconds"], f"{where}.phases[{index}].seconds"),
            from_per_s=_thousandths(phase["from_per_s"], f"{where}.phases[{index}].from_per_s"),
            to_per_s=_thousandths(phase["to_per_s"], f"{where}.phases[{index}].to_per_s"),
        )
        for index, phase in enumerate(entry["phases"])
    )
    warm_up = None
    if "warm_up" in entry:
        rate = _thousandths(entry["warm_up"]["rate_per_s"], f"{where}.warm_up.rate_per_s")
        warm_up = WarmUp(requests=entry["warm_up"]["requests"], rate_per_s=rate)
    return Scenario(name=name, script=entry["script"], phases=phases, warm_up=warm_up)


def _suite(
    name: str, entry: dict[str, Any], scenarios: dict[str, Scenario], variants: dict[str, Variant]
) -> Suite:
    where = f"suites.yaml: suites.{name}"
    _require(entry["scenario"], scenarios, f"{where}.scenario", "suites.yaml has no scenario")
    for variant in entry["variants"]:
        _require(variant, variants, f"{where}.variants", "variants.yaml has no variant")
        if twin := variants[variant].naive_twin_of:
            raise UsageError(
                f"{where}.variants: '{variant}' is a weakened control of '{twin}', only for fault runs;"
                f" no suite may rank it. List '{twin}' instead"
            )
        if slowed := variants[variant].control_of:
            raise UsageError(
                f"{where}.variants: '{variant}' is slowed down on purpose, to check the comparison;"
                f" no suite may rank it. List '{slowed}' instead"
            )
    if "baseline" in entry:
        _require(entry["baseline"], entry["variants"], f"{where}.baseline", "the suite has no variant")
    scenario = scenarios[entry["scenario"]]
    if "capacity" in entry and "queries" in entry:
        raise UsageError(f"{where}: a suite cannot have both capacity and queries; remove one of them")
    if ("capacity" in entry or "queries" in entry) and len(scenario.phases) != 1:
        raise UsageError(
            f"{where}.scenario: a capacity run takes lowest rate, highest rate and step duration from one phase;"
            f" '{scenario.name}' has {len(scenario.phases)} phases"
        )
    return Suite(
        name=name,
        title=entry["title"],
        scenario=scenario,
        repetitions=entry["repetitions"],
        variants=tuple(variants[variant] for variant in entry["variants"]),
        baseline=variants[entry["baseline"]] if "baseline" in entry else None,
        capacity=Goal(**entry["capacity"]) if "capacity" in entry else None,
        queries=_questions(entry["queries"]) if "queries" in entry else None,
    )


def _questions(entry: dict[str, Any]) -> Questions:
    return Questions(**(entry | {"keywords": tuple(entry["keywords"])}))


def _thousandths(value: float, where: str) -> float:
    if value * 1000 != round(value * 1000):  # k6 is given whole milliseconds, and whole requests per 1,000 s
        raise UsageError(f"{where}: {value} has more than three decimals; round it")
    return float(value)


def _require(name: str, known: Iterable[str], where: str, problem: str) -> None:
    if name not in known:
        raise UsageError(f"{where}: {problem} '{name}'; {nearest(name, known)}")


def _lookup(table: dict[str, T], name: str, flag: str, file: str) -> T:
    if name not in table:
        raise UsageError(f"{flag}={name}: {file} has no such entry; {nearest(name, table)}")
    return table[name]


def checked_yaml(root: Path, kind: str) -> Any:
    """The content of <kind>.yaml; UsageError, with place and remedy, for what its JSON Schema forbids."""
    path = root / f"{kind}.yaml"
    data = strict_yaml.load(path, verbatim=frozenset({"settings"}))
    schema = json.loads((root / "schemas" / f"{kind}.schema.json").read_text(encoding="utf-8"))
    problems = list(jsonschema.Draft202012Validator(schema).iter_errors(data))
    if problems:
        # A misspelt key is also a missing one; the misspelling is what helps.
        problem = min(
            problems, key=lambda error: (error.validator != "additionalProperties", str(error.json_path))
        )
        raise UsageError(f"{path.name}: {_explain(problem)}")
    return data


def _explain(error: jsonschema.ValidationError) -> str:
    """One sentence: where, what, and what would be right."""
    where = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in error.absolute_path)
    value: Any = error.instance
    rule: Any = error.validator_value
    schema: Any = error.schema
    match error.validator:
        case "additionalProperties":
            unknown = next(key for key in value if key not in schema["properties"])
            problem = f"unknown key '{unknown}'; {nearest(unknown, schema['properties'])}"
        case "required":
            problem = f"key '{next(key for key in rule if key not in value)}' is missing"
        case "type":
            problem = f"must be {_TYPES[rule if isinstance(rule, str) else rule[0]]}, but is {_shown(value)}"
        case "minItems" | "minProperties":
            problem = "must not be empty"
        case "uniqueItems":
            twice = next(entry for entry, times in Counter(map(str, value)).items() if times > 1)
            problem = f"'{twice}' is listed twice"
        case "minimum":
            problem = f"{value} is too small; at least {rule}"
        case "exclusiveMinimum":
            problem = f"{value} is too small; it must be more than {rule}"
        case "maximum":
            problem = f"{value} is too large; at most {rule}"
        case "pattern":
            problem = f"{_shown(value)} is not {schema['description']}"
        case _:
            problem = error.message
    return f"{where.lstrip('.') or 'top level'}: {problem}"


def _shown(value: object) -> str:
    return "empty" if value is None else json.dumps(value, ensure_ascii=False)
