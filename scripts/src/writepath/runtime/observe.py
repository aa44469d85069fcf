"""OBSERVE=1: Prometheus and Grafana as containers of the stack; for local processes, what to scrape and import."""

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path

import yaml

from writepath import poll
from writepath.errors import StartError
from writepath.runtime import network, topology
from writepath.runtime.base import INSPECTOR_PORT, READY_S, Runtime, Stack
from writepath.runtime.network import LOOPBACK

HISTOGRAM = {"LATENCY_HISTOGRAM": "true"}  # buckets of the response times: percentiles in the dashboard
CONFIGURATION, DASHBOARD = "observe/prometheus.yml", "observe/dashboards/writepath.json"
_STATE = ".writepath/observe/prometheus.yml"
_PROMETHEUS, _GRAFANA = ("prometheus", 9090, "/-/ready"), ("grafana", 3000, "/api/health")


def profiles(runtime: Runtime) -> Sequence[str]:
    """Of the compose file, to be started with the stack."""
    return [topology.OBSERVE] if runtime.name == "docker" else []


def addresses(root: Path, stack: Stack, services: Iterable[str]) -> list[str]:
    """In a line each, what to open or to scrape; services: the applications. StartError where Grafana fails."""
    if _GRAFANA[0] in stack.components:
        urls = {name: _ready(stack, name, port, path) for name, port, path in (_PROMETHEUS, _GRAFANA)}
        return [f"dashboard {urls['grafana']}", f"Prometheus {urls['prometheus']}"]
    targets = {
        name: [f"{LOOPBACK}:{port}" for port in stack.ports(name, INSPECTOR_PORT)] for name in services
    }
    path = root / _STATE
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(scraping(root, targets), encoding="utf-8")
    urls_to_scrape = [f"http://{each}/actuator/prometheus" for named in targets.values() for each in named]
    return [
        *(f"scrape {url}" for url in urls_to_scrape),
        f"for your own Prometheus: --config.file={path}",
        f"dashboard to import in Grafana: {root / DASHBOARD}",
    ]


def scraping(root: Path, targets: Mapping[str, Sequence[str]]) -> str:
    """Prometheus's configuration with these targets (host:port, by service), in the place of names to look up."""
    config = yaml.safe_load((root / CONFIGURATION).read_text(encoding="utf-8"))
    (job,) = config["scrape_configs"]
    del job["dns_sd_configs"], job["relabel_configs"]
    job["static_configs"] = [
        {"targets": list(found), "labels": {"service": name}} for name, found in targets.items()
    ]
    text: str = yaml.safe_dump(config, sort_keys=False)
    return text


def _ready(stack: Stack, name: str, inside: int, path: str) -> str:
    """Its base URL, once it serves."""
    (port,) = stack.ports(name, inside)
    why_not = partial(network.why_not, "GET", port, path)
    if not poll.until(lambda: not why_not(), READY_S, every_s=0.2):
        lost = "; ".join(stack.lost_components())
        raise StartError(f"{name} was not ready in {READY_S:.0f} s: {lost or why_not()}")
    return f"http://{LOOPBACK}:{port}"
