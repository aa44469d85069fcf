"""What settings make of the real suites: rates scaled as a whole, and a delay only for variants with a database."""

from pathlib import Path

import pytest

from writepath.config import settings
from writepath.config.settings import Factor
from writepath.errors import UsageError
from writepath.experiments import plan as planning
from writepath.experiments.base import Plan
from writepath.options import Asked, Call

ROOT = Path(__file__).resolve().parents[3]
DELAY = "DATABASE_DELAY_MS"


def planned(suite: str, *words: str, variants: tuple[str, ...] | None = None, reps: int = 1) -> Plan:
    given = settings.parse(words, settings.known(ROOT))
    asked = Asked(suite=suite, variants=variants, reps=reps, settings=given)
    return planning.plan(Call(root=ROOT, command="bench-all"), asked)


@pytest.mark.parametrize(
    ("suite", "rates"),
    [
        ("capacity", ("lowest_per_s", "highest_per_s", "begins_per_s")),
        ("pair", ("lowest_per_s", "highest_per_s")),
        ("faults", ("rate_per_s",)),
        ("original", ()),
    ],
)
def test_a_scale_multiplies_every_rate_of_a_suite_of_any_kind(suite: str, rates: tuple[str, ...]) -> None:
    whole, half = planned(suite), planned(suite, "RATE_SCALE=0.5")
    for name in rates:
        assert getattr(half.params, name) == 0.5 * getattr(whole.params, name)
    for before, after in zip(whole.suite.load.phases, half.suite.load.phases, strict=True):
        assert (after.from_per_s, after.to_per_s) == (0.5 * before.from_per_s, 0.5 * before.to_per_s)


def test_a_delay_is_a_factor_where_some_variants_have_no_database() -> None:
    mixed = planned("compare", f"{DELAY}=20", "POOL_SIZE=7", variants=("jpa", "elasticsearch-1s0r"), reps=2)
    assert mixed.factors == (Factor(name=DELAY, scope="stack", levels=("0", "20")),)
    assert (mixed.settings["POOL_SIZE"], DELAY in mixed.settings) == ("7", False)
    delays = ["elasticsearch-1s0r,DATABASE_DELAY_MS=0", *[f"jpa,{DELAY}=20", f"jpa,{DELAY}=20@again"]]
    assert [sorted(block) for block in planning.order_of(mixed)] == [delays, delays]
    alone = planned("compare", f"{DELAY}=20", variants=("jpa", "rabbitmq-jpa"))
    assert (alone.settings[DELAY], alone.factors) == ("20", ())


def test_the_threads_suite_has_a_warm_stack_each_pool_and_instances_and_a_control_at_15_users() -> None:
    made = planned("threads", "SECONDS=5", reps=3)
    assert made.params.seconds == 5
    for block in planning.groups(made):
        assert sorted(map(len, block)) == [1, 6, 6, 6, 6]
        for group in block:
            assert len({(cell.levels["POOL_SIZE"], cell.levels["INSTANCES"]) for cell in group}) == 1
        (control,) = [cell for group in block for cell in group if cell.role == "A/A control"]
        assert control.levels == {"VIRTUAL_USERS": "15", "POOL_SIZE": "10", "INSTANCES": "1"}


def test_levels_of_ones_own_replace_those_of_the_baseline_where_it_has_them_no_more() -> None:
    made = planned("threads", "POOL_SIZE=2,4,8,16", reps=2)
    (control,) = [cell for group in next(planning.groups(made)) for cell in group if cell.role != "measured"]
    assert control.levels == {"VIRTUAL_USERS": "15", "POOL_SIZE": "2", "INSTANCES": "1"}


def test_conditions_are_cells_with_the_settings_of_the_starting_point_and_their_own() -> None:
    made = planned("proxy", reps=2)
    cells = [cell for group in next(planning.groups(made)) for cell in group]
    assert sorted(cell.name for cell in cells) == sorted(
        ["jpa,CONDITION=all@again", *(f"jpa,CONDITION={name}" for name in made.suite.conditions or {})]
    )
    settings = {cell.levels["CONDITION"]: made.settings_of(cell.levels) for cell in cells}
    assert all("CONDITION" not in own for own in settings.values())
    start, keepalive = settings["start"], settings["keepalive"]
    assert {name for name in start if start[name] != keepalive[name]} == {"NGINX_KEEPALIVE"}
    assert (start["NGINX_KEEPALIVE"], keepalive["NGINX_KEEPALIVE"]) == ("0", "1024")
    assert start["IN_FLIGHT_MAX"] == "16384"


def test_what_a_condition_sets_cannot_be_given() -> None:
    with pytest.raises(
        UsageError, match="NGINX_KEEPALIVE=7: does not apply; condition 'keepalive' of 'proxy' sets"
    ):
        planned("proxy", "NGINX_KEEPALIVE=7")
