"""Variants, scenarios and suites: the models of variants.yaml and suites.yaml."""

from dataclasses import dataclass, field
from typing import Annotated, Any, Literal, TypeVar

from pydantic import Field

from writepath.config.checked import Name, Names, Text, Thousandths, Value, entry, validated
from writepath.config.settings import Factor
from writepath.errors import UsageError

T = TypeVar("T")
Model = Literal["open", "closed"]

VARIANTS_FILE, SUITES_FILE = "variants.yaml", "suites.yaml"
_AS_A_SETTING = "Variables of docker-compose.yml; a value is taken as text."

Rate = Annotated[Thousandths, Field(gt=0, le=100_000, description="Requests/s, with at most three decimals.")]
Seconds = Annotated[Thousandths, Field(gt=0, le=86_400)]
SloMs = Annotated[float, Field(gt=0, le=15_000, description="Limit of the p99 from the scheduled send time.")]
Script = Annotated[
    str,
    Field(
        pattern=r"^k6/scenarios/[a-z0-9-]+\.js$",
        description="a k6 script below the checkout, as in 'k6/scenarios/ramp.js'",
    ),
]
Twin = Annotated[Name | None, Field(description="The variant that this one changes by one setting.")]


@entry
class VariantEntry:
    """Services + backing services + settings."""

    title: Text
    family: Name
    profiles: Annotated[Names, Field(description="Profiles of docker-compose.yml that start its services.")]
    ingress: Annotated[str, Field(description="The service that answers POST /api/posts.")]
    inspector: Annotated[str, Field(description="The service whose inspector knows the final store.")]
    acknowledges: Annotated[Text, Field(description="What a 201 guarantees, in words.")]
    naive_twin_of: Twin = None  # weakens that variant; never ranked with others
    tutorial_of: Twin = None  # runs that variant's architecture with Spring Boot defaults; a baseline
    control_of: Twin = None  # slows that variant down, to check the comparison; never ranked
    level: Annotated[
        Literal["A", "B", "C"],
        Field(description="What a 201 guarantees: A on disk, B in memory, C handed over."),
    ] = "A"
    settings: Annotated[dict[str, Value], Field(description=_AS_A_SETTING)] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Variant(VariantEntry):
    """An entry of variants.yaml with its name."""

    name: str


@entry
class Phase:
    """A straight line of the arrival rate."""

    name: Name
    seconds: Seconds
    from_per_s: Rate
    to_per_s: Rate


@entry
class WarmUp:
    """Requests before the load, excluded from every figure."""

    requests: Annotated[int, Field(ge=1, le=10_000_000)]
    rate_per_s: Rate


@entry
class ScenarioEntry:
    """One k6 load shape, the same for every variant: phases (open), or virtual users (closed)."""

    script: Script
    warm_up: WarmUp | None = None
    phases: Annotated[
        tuple[Phase, ...], Field(description="Open: requests are sent on schedule whatever the answers do.")
    ] = ()
    virtual_users: Annotated[
        int | None,
        Field(ge=1, le=10_000, description="Closed: so many users send, and each waits for its answer."),
    ] = None
    seconds: Annotated[Seconds | None, Field(description="How long the users of a closed load send.")] = None


@dataclass(frozen=True, kw_only=True)
class Scenario(ScenarioEntry):
    """An entry of suites.yaml's scenarios with its name."""

    name: str

    @property
    def model(self) -> Model:
        """Whether requests are sent on schedule, or each user waits for its answer."""
        return "open" if self.virtual_users is None else "closed"


@entry
class SuiteEntry:
    """Kind x variants x factors x repetitions. The part named like the kind is checked by the kind."""

    title: Text
    kind: Annotated[
        Name, Field(description="What is done in a cell: load, capacity, search, faults or ceilings.")
    ]
    scenario: Annotated[str | None, Field(description="Of kinds that send a load.")] = None
    repetitions: Annotated[int, Field(ge=1, le=1_000)]
    variants: Names
    baseline: Annotated[
        str | None,
        Field(description="The others are compared with it; it runs twice in each block (A/A control)."),
    ] = None
    references: Annotated[
        str | None, Field(description="A suite of another kind whose cells run in each block too.")
    ] = None
    settings: Annotated[dict[str, Value], Field(description="Settings of every cell (make settings).")] = (
        field(default_factory=dict)
    )
    factors: Annotated[
        dict[str, Annotated[tuple[Value, ...], Field(min_length=2)]],
        Field(description="Settings that are varied: every combination of their levels is a cell."),
    ] = field(default_factory=dict)


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
    references: str | None = None
    settings: dict[str, str] = field(default_factory=dict)
    factors: tuple[Factor, ...] = ()
    params: dict[str, Any] = field(default_factory=dict)  # the part named like the kind, as it is written

    @property
    def load(self) -> Scenario:
        """Its scenario; UsageError where it has none."""
        if self.scenario is None:
            raise UsageError(
                f"{SUITES_FILE}: suites.{self.name}: kind '{self.kind}' sends a load, so it needs a `scenario`"
            )
        return self.scenario

    def checked_params(self, kind: type[T]) -> T:
        """The part named like the kind as a dataclass; UsageError for what it forbids."""
        return validated(kind, self.params, SUITES_FILE, f"suites.{self.name}.{self.kind}")


@entry
class VariantsFile:
    """variants.yaml."""

    variants: Annotated[
        dict[Name, VariantEntry], Field(min_length=1, json_schema_extra={"additionalProperties": False})
    ]


@entry
class SuitesFile:
    """suites.yaml."""

    scenarios: Annotated[
        dict[Name, ScenarioEntry], Field(min_length=1, json_schema_extra={"additionalProperties": False})
    ]
    suites: Annotated[
        dict[Name, SuiteEntry], Field(min_length=1, json_schema_extra={"additionalProperties": False})
    ]
