"""Reads variants.yaml and suites.yaml: which variants, scenarios and suites exist."""

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

from writepath.config import settings, yaml_file
from writepath.config.checked import nearest, validated
from writepath.config.entries import (
    SUITES_FILE,
    VARIANTS_FILE,
    Phase,
    Scenario,
    Suite,
    SuiteEntry,
    SuitesFile,
    Variant,
    VariantsFile,
    WarmUp,
)
from writepath.config.settings import Setting
from writepath.errors import UsageError

__all__ = [
    "Phase",
    "Registry",
    "Scenario",
    "Suite",
    "Variant",
    "WarmUp",
    "load",
    "nearest",
]

T = TypeVar("T")
COMPOSE_FILE = "docker-compose.yml"
_VARIABLE = re.compile(r"(?<!\$)\$\{([A-Za-z_][A-Za-z0-9_]*)")  # $${X} is a literal ${X}


@dataclass(frozen=True, kw_only=True)
class Registry:
    """Everything that variants.yaml and suites.yaml name."""

    root: Path
    variants: dict[str, Variant]
    scenarios: dict[str, Scenario]
    suites: dict[str, Suite]

    def variant(self, name: str) -> Variant:
        """The variant of that name; UsageError names the nearest known one."""
        return _lookup(self.variants, name, "VARIANT", VARIANTS_FILE)

    def suite(self, name: str) -> Suite:
        """The suite of that name; UsageError names the nearest known one."""
        return _lookup(self.suites, name, "SUITE", SUITES_FILE)


def load(root: Path) -> Registry:
    """Reads both files below root. UsageError for what their models, docker-compose.yml or .env forbid."""
    variants_file = validated(VariantsFile, yaml_file.load(root / VARIANTS_FILE), VARIANTS_FILE)
    variants = {name: Variant(name=name, **vars(entry)) for name, entry in variants_file.variants.items()}
    topology = _topology(root)
    for variant in variants.values():
        _check_variant(variant, topology)
        _check_twins(variant, variants)
    data = yaml_file.load(root / SUITES_FILE)
    params = _taken_params(data)
    file = validated(SuitesFile, data, SUITES_FILE)
    scenarios = {name: Scenario(name=name, **vars(entry)) for name, entry in file.scenarios.items()}
    for scenario in scenarios.values():
        _check_scenario(root, scenario)
    known = settings.known(root)
    suites = {
        name: _suite(
            name, entry, Registry(root=root, variants=variants, scenarios=scenarios, suites={}), known
        )
        for name, entry in file.suites.items()
    }
    suites = {name: replace(suite, params=params.get(name, {})) for name, suite in suites.items()}
    for suite in suites.values():
        _check_references(suite, suites)
    return Registry(root=root, variants=variants, scenarios=scenarios, suites=suites)


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
    services = yaml_file.load(path)["services"]
    return _Topology(
        services={name: frozenset(service.get("profiles", ())) for name, service in services.items()},
        variables=frozenset(_VARIABLE.findall(path.read_text(encoding="utf-8"))),
    )


def _check_variant(variant: Variant, topology: _Topology) -> None:
    where = f"{VARIANTS_FILE}: variants.{variant.name}"
    for profile in variant.profiles:
        _require(profile, topology.profiles, f"{where}.profiles", f"{COMPOSE_FILE} has no profile")
    for role in ("ingress", "inspector"):
        service = getattr(variant, role)
        _require(service, topology.services, f"{where}.{role}", f"{COMPOSE_FILE} has no service")
        if not topology.services[service].intersection(variant.profiles):
            starters = ", ".join(sorted(topology.services[service]))
            raise UsageError(
                f"{where}.{role}: none of its profiles starts '{service}'; add one of: {starters}"
            )
    for setting in variant.settings:
        _require(setting, topology.variables, f"{where}.settings", f"{COMPOSE_FILE} has no variable")


def _check_twins(variant: Variant, variants: dict[str, Variant]) -> None:
    for key in ("naive_twin_of", "tutorial_of", "control_of"):
        twin = getattr(variant, key)
        if twin is None:
            continue
        where = f"{VARIANTS_FILE}: variants.{variant.name}.{key}"
        _require(twin, variants, where, f"{VARIANTS_FILE} has no variant")
        if variants[twin].naive_twin_of is not None:
            raise UsageError(f"{where}: '{twin}' is itself a weakened control; name a correct variant")


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
    closed = (scenario.virtual_users, scenario.seconds)
    if bool(scenario.phases) == (None not in closed) or (scenario.phases and closed != (None, None)):
        raise UsageError(
            f"{where}: needs either phases (open load) or virtual_users and seconds (closed load)"
        )


def _suite(name: str, entry: SuiteEntry, files: Registry, known: dict[str, Setting]) -> Suite:
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
    for setting, levels in entry.factors.items():
        _require(setting, known, f"{where}.factors", "there is no setting")
        if setting in entry.settings:
            raise UsageError(f"{where}: '{setting}' is both a setting and a factor; remove one of them")
        known[setting].factor(levels, f"{where}.factors: ")
    fields = vars(entry) | {
        "scenario": None if entry.scenario is None else files.scenarios[entry.scenario],
        "variants": tuple(files.variants[variant] for variant in entry.variants),
        "baseline": None if entry.baseline is None else files.variants[entry.baseline],
        "factors": tuple(known[setting].factor(levels) for setting, levels in entry.factors.items()),
    }
    return Suite(name=name, **fields)


def _check_references(suite: Suite, suites: dict[str, Suite]) -> None:
    if suite.references is None:
        return
    where = f"{SUITES_FILE}: suites.{suite.name}.references"
    _require(suite.references, suites, where, f"{SUITES_FILE} has no suite")
    if suites[suite.references].kind == suite.kind:
        raise UsageError(f"{where}: '{suite.references}' is of the same kind; name a suite of another kind")


def _check_ranked(variant: Variant, where: str) -> None:
    if twin := variant.naive_twin_of:
        raise UsageError(
            f"{where}.variants: '{variant.name}' is a weakened control of '{twin}', only for fault runs;"
            f" no suite may rank it. List '{twin}' instead"
        )
    if slowed := variant.control_of:
        raise UsageError(
            f"{where}.variants: '{variant.name}' is slowed down on purpose, to check the comparison;"
            f" no suite may rank it. List '{slowed}' instead"
        )


def _require(name: str, known: Iterable[str], where: str, problem: str) -> None:
    if name not in known:
        raise UsageError(f"{where}: {problem} '{name}'; {nearest(name, known)}")


def _lookup(table: dict[str, T], name: str, flag: str, file: str) -> T:
    if name not in table:
        raise UsageError(f"{flag}={name}: {file} has no such entry; {nearest(name, table)}")
    return table[name]
