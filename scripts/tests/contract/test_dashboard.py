"""Every query of the dashboard finds its metrics and labels at the endpoints of a running stack."""

import json
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import promql_parser as promql
from prometheus_client.parser import text_string_to_metric_families

from contract.subject import Subject, place, token
from writepath import poll

ROOT = Path(__file__).resolve().parents[3]
DASHBOARD = json.loads((ROOT / "observe/dashboards/writepath.json").read_text(encoding="utf-8"))
OF_SCRAPE = {"instance", "job", "service"}  # labels that Prometheus adds
NEEDS = {"PostgreSQL": "postgres", "Queue": "rabbitmq", "Elasticsearch": "elasticsearch"}  # of a row's panels
BUCKETS = "http_server_requests_seconds_bucket"  # of stacks that are observed: test_observe.py
WRITES = 512
SECONDS = 180.0


def panels() -> Iterator[tuple[str, dict[str, Any]]]:
    """Each with the title of its row."""
    row = ""
    for panel in DASHBOARD["panels"]:
        if panel["type"] == "row":
            row = panel["title"]
        else:
            yield row, panel


def selected(query: str) -> list[tuple[promql.VectorSelector, set[str]]]:
    """Each selector of a query, and the labels that aggregations around it keep."""
    found: list[tuple[promql.VectorSelector, set[str]]] = []
    around: list[set[str]] = [set()]

    def enter(expression: promql.Expr) -> None:
        kept = expression.modifier if isinstance(expression, promql.AggregateExpr) else None
        around.append(around[-1] | set(kept.labels if kept else ()))
        if isinstance(expression, promql.VectorSelector):
            found.append((expression, around[-1]))

    def leave(_: promql.Expr) -> None:
        around.pop()

    promql.walk(promql.parse(query.replace("$__rate_interval", "1m")), enter, leave)
    return found


def exposed(subject: Subject) -> dict[str, list[dict[str, str]]]:
    """By the name of a metric, the labels of each of its samples at any instance."""
    found: dict[str, list[dict[str, str]]] = defaultdict(list)
    for service in subject.services:
        for url in subject.stack.inspector_urls(service):
            text = subject.http.get(place(url, "/actuator/prometheus")).text
            for sample in (one for family in text_string_to_metric_families(text) for one in family.samples):
                found[sample.name].append(sample.labels)
    return found


def missing(query: str, metrics: dict[str, list[dict[str, str]]]) -> list[str]:
    """What a query asks for that no sample has."""
    return [
        f"{selector.name}{{{', '.join(sorted(labels | {one.name for one in selector.matchers.matchers}))}}}"
        for selector, labels in selected(query)
        if selector.name != BUCKETS
        and not any(_fits(selector, labels, one) for one in metrics[str(selector.name)])
    ]


def _fits(selector: promql.VectorSelector, labels: set[str], sample: dict[str, str]) -> bool:
    matchers = {matcher.name: matcher for matcher in selector.matchers.matchers}
    return labels - OF_SCRAPE - {"le"} <= set(sample) and all(
        name in sample and (matcher.op != promql.MatchOp.Equal or matcher.value == sample[name])
        for name, matcher in matchers.items()
    )


def test_the_dashboard_asks_for_what_the_stack_exposes(subject: Subject) -> None:
    """Waits and pauses are there once there was one: under load."""
    queries = [
        target["expr"]
        for row, panel in panels()
        if NEEDS.get(row, subject.variant.ingress) in subject.stack.components
        for target in panel["targets"]
    ]

    absent: list[str] = []

    def all_found() -> bool:
        subject.write_all([f"dashboard {token()}"] * WRITES)
        metrics = exposed(subject)
        absent[:] = [one for query in queries for one in missing(query, metrics)]
        return not absent

    assert poll.until(all_found, SECONDS), f"no endpoint has {', '.join(sorted(set(absent)))}"
