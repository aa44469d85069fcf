"""How many documents a second does Elasticsearch itself take? Asked over HTTP, one a request and 500 a bulk.

There is no tool of its own that could be had everywhere: Rally insists on the start page that the server from Maven
Central lacks, and a client in Python would measure Python. k6 is here in both runtimes anyway.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

import httpx

from writepath.capacity import ceiling_tool
from writepath.capacity.ceiling_tool import BATCH, Measured, Target
from writepath.errors import LoadError
from writepath.records.capacity import Ceiling

if TYPE_CHECKING:
    from pathlib import Path

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


def measure(target: Target) -> list[Ceiling]:
    """Single documents over 16 and 64 connections, bulk requests over 1, 2 and 4; the best of each."""
    return [
        _ceiling(target, "elasticsearch-single", (16, 64), 1),
        _ceiling(target, "elasticsearch-bulk", (1, 2, 4), BATCH),
    ]


def _ceiling(target: Target, name: str, clients: tuple[int, ...], documents: int) -> Ceiling:
    best = ceiling_tool.best([_at(target, name, count, documents) for count in clients])
    each = "one document per request" if documents == 1 else f"{documents} documents per bulk request"
    return Ceiling(
        name=name,
        store="elasticsearch",
        tool="k6, directly to the node",
        what=f"{each}, one shard, translog flushed before the answer",
        clients=best.clients,
        seconds=target.spans.seconds,
        writes_per_s=best.writes_per_s,
        latency_ms_mean=best.latency_ms_mean,
        raw_file=best.raw_file,
    )


def _at(target: Target, name: str, clients: int, documents: int) -> Measured:
    """Into an empty index."""
    address = f"http://{target.stack.address(target.service.name, PORT)}"
    _make_index(address, target.bench.root / _MAPPING)
    spans, each = target.spans, f"{name}-{clients}"
    summary = target.folder / f"{each}.json"
    variables = {
        "BENCH_TARGET": address,
        "BENCH_VUS": f"{clients}",
        "BENCH_DOCUMENTS": f"{documents}",
        "BENCH_WARM_UP_SECONDS": f"{spans.warm_up_s:g}",
        "BENCH_SECONDS": f"{spans.seconds:g}",
        "BENCH_CONTENT": f"{target.bench.content}",
        "BENCH_SUMMARY": f"{summary}",
    }
    flags = ["--quiet", "--no-color", "--no-usage-report", "--address", ""]
    for variable, value in variables.items():
        flags += ["-e", f"{variable}={value}"]
    args = [*target.bench.runtime.load_generator(), "run", *flags, f"{target.bench.root / _SCRIPT}"]
    # k6's own variables replace what the script says; ours come as flags.
    inherited = {k: v for k, v in os.environ.items() if not k.startswith(("K6_", "BENCH_"))}
    environment = inherited | {"K6_AUTO_EXTENSION_RESOLUTION": "false"}
    summary.unlink(missing_ok=True)
    target.run(each, args, seconds=spans.warm_up_s + spans.seconds, env=environment)
    return parse(summary, clients, spans.seconds)


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


def parse(summary: Path, clients: int, seconds: float) -> Measured:
    """What the script wrote at its end."""
    try:
        counts: dict[str, float] = json.loads(summary.read_text(encoding="utf-8"))
        documents, refused, latency = counts["documents"], counts["refused"], counts["latency_ms_mean"]
    except (OSError, ValueError, KeyError) as error:
        raise LoadError(f"{summary.name}: k6 left no counts ({type(error).__name__}: {error})") from error
    if refused:
        raise LoadError(
            f"{summary.name}: {refused:.0f} requests were refused; a ceiling counts only what the store keeps"
        )
    return Measured(
        clients=clients,
        writes_per_s=documents / seconds,
        latency_ms_mean=latency,
        raw_file=summary.name,
    )
