"""Asks over HTTP how many documents per second Elasticsearch itself takes, one a request and 500 a bulk.

It has no tool of its own that is available everywhere: Rally requires the start page that the server from Maven
Central lacks, and a client in Python would measure Python. k6 is there in both runtimes.
"""

import json
import os
from collections.abc import Iterator
from pathlib import Path

import httpx

from writepath.errors import LoadError
from writepath.experiments.ceilings.tool import BATCH, Figure, Rate, Target, Tool
from writepath.records.ceilings import BULK, SINGLE, CeilingsFacts, ToolRun

PORT = 9200
_INDEX = "ceiling"
_SCRIPT = "k6/scenarios/ceiling-elasticsearch.js"
_MAPPING = "services/store-elasticsearch/src/main/resources/posts-mapping.json"  # the variants' own
_SETTINGS = {
    "index.number_of_shards": 1,
    "index.number_of_replicas": 0,
    "index.translog.durability": "request",
    "index.refresh_interval": "1s",
}
_TIMEOUT_S = 30.0
_RUNS = ((SINGLE, (16, 64), 1), (BULK, (1, 2, 4), BATCH))  # with connections, and documents of a request


def measure(target: Target) -> Iterator[ToolRun]:
    """Single documents over 16 and 64 connections, bulk requests over 1, 2 and 4."""
    for name, connections, documents in _RUNS:
        for clients in connections:
            yield ToolRun(tool=name, clients=clients, file=_at(target, name, clients, documents))


def _at(target: Target, name: str, clients: int, documents: int) -> str:
    """Into an empty index; the name of the file of k6's counts."""
    address = f"http://{target.stack.address(target.service.name, PORT)}"
    bench, params, each = target.run.bench, target.run.params, f"{name}-{clients}"
    _make_index(address, bench.root / _MAPPING)
    summary = target.run.folder / f"{each}.json"
    variables = {
        "BENCH_TARGET": address,
        "BENCH_VUS": f"{clients}",
        "BENCH_DOCUMENTS": f"{documents}",
        "BENCH_WARM_UP_SECONDS": f"{params.warm_up_seconds:g}",
        "BENCH_SECONDS": f"{params.seconds:g}",
        "BENCH_CONTENT": f"{bench.content}",
        "BENCH_SUMMARY": f"{summary}",
    }
    flags = ["--quiet", "--no-color", "--no-usage-report", "--address", ""]
    for variable, value in variables.items():
        flags += ["-e", f"{variable}={value}"]
    args = [*bench.runtime.load_generator(), "run", *flags, f"{bench.root / _SCRIPT}"]
    # k6's own variables replace what the script says; ours come as flags.
    inherited = {k: v for k, v in os.environ.items() if not k.startswith(("K6_", "BENCH_"))}
    environment = inherited | {"K6_AUTO_EXTENSION_RESOLUTION": "false"}
    target.tool(each, args, seconds=params.warm_up_seconds + params.seconds, env=environment)
    return summary.name


def _make_index(address: str, mapping: Path) -> None:
    body = {"settings": _SETTINGS, "mappings": json.loads(mapping.read_text(encoding="utf-8"))}
    with httpx.Client(base_url=address, timeout=_TIMEOUT_S, trust_env=False) as client:
        try:
            client.delete(f"/{_INDEX}", params={"ignore_unavailable": "true"})
            made = client.put(f"/{_INDEX}", json=body)
        except httpx.HTTPError as error:
            raise LoadError(
                f"Elasticsearch did not create an index: {type(error).__name__}: {error}"
            ) from error
    if made.is_error:
        raise LoadError(f"Elasticsearch did not create an index: {made.status_code}: {made.text[:300]}")


def parse(run: ToolRun, facts: CeilingsFacts) -> Rate:
    """From what the script wrote at its end."""
    try:
        counts: dict[str, float] = json.loads(run.output or "")
        documents, refused, latency = counts["documents"], counts["refused"], counts["latency_ms_mean"]
    except (ValueError, KeyError) as error:
        raise LoadError(f"{run.file}: k6 left no counts ({type(error).__name__}: {error})") from error
    if refused:
        raise LoadError(
            f"{run.file}: {refused:.0f} requests were refused; a ceiling counts only what the store keeps"
        )
    return Rate(writes_per_s=documents / facts.seconds, latency_ms_mean=latency)


def title(_run: ToolRun, _facts: CeilingsFacts) -> str:
    """The load generator."""
    return "k6, directly to the node"


def _figure(name: str, documents: int) -> Figure:
    each = "one document per request" if documents == 1 else f"{documents} documents per bulk request"
    what = f"{each}, one shard, translog flushed before the answer"
    return Figure(name=name, tool=name, what=what, parse=parse, title=title)


TOOL = Tool(
    store="elasticsearch",
    figures=tuple(_figure(name, documents) for name, _, documents in _RUNS),
    measure=measure,
)
