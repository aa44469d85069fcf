"""How is the network between application and store broken? A client of Toxiproxy's API."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import httpx

from writepath.measure.inspector import plain_client

if TYPE_CHECKING:
    from collections.abc import Mapping

API_PORT = 8474
SERVICE = "toxiproxy"
_SECONDS = 5.0
_COUNTER = re.compile(r"toxiproxy_proxy_received_bytes_total\{(?P<labels>[^}]*)\} (?P<bytes>[0-9.e+]+)")
_LABEL = re.compile(r'(\w+)="([^"]*)"')


class Toxiproxy:
    """One running Toxiproxy; a proxy of it is named after the compose service behind it."""

    def __init__(self, address: str) -> None:
        """Address: host:port of its API."""
        self.url = f"http://{address}"
        self._client = plain_client(_SECONDS, self.url)

    def close(self) -> None:
        """Ends its connections."""
        self._client.close()

    def enable(self, proxy: str, enabled: bool) -> None:
        """Off: open connections are closed, new ones refused."""
        self._ask("POST", f"/proxies/{proxy}", {"enabled": enabled})

    def add(self, proxy: str, kind: str, stream: str, attributes: Mapping[str, int]) -> None:
        """A toxic for every connection; stream: upstream (requests) or downstream (answers)."""
        body = {"name": f"{kind}-{stream}", "type": kind, "stream": stream, "attributes": dict(attributes)}
        self._ask("POST", f"/proxies/{proxy}/toxics", body)

    def state(self, proxy: str) -> tuple[bool, tuple[str, ...]]:
        """Whether it is enabled, and the names of its toxics, read back."""
        found = self._ask("GET", f"/proxies/{proxy}")
        return bool(found["enabled"]), tuple(toxic["name"] for toxic in found["toxics"])

    def clear(self, proxy: str) -> None:
        """Removes every toxic and enables it."""
        for name in self.state(proxy)[1]:
            self._client.delete(f"/proxies/{proxy}/toxics/{name}").raise_for_status()
        self.enable(proxy, enabled=True)

    def received_bytes(self, proxy: str) -> Mapping[str, float]:
        """By direction, what came into the proxy since it was started."""
        answer = self._client.get("/metrics")
        answer.raise_for_status()
        found: dict[str, float] = {}
        for match in _COUNTER.finditer(answer.text):
            labels = dict(_LABEL.findall(match["labels"]))
            if labels.get("proxy") == proxy:
                found[labels.get("direction", "")] = float(match["bytes"])
        return found

    def _ask(self, method: str, path: str, body: Any = None) -> dict[str, Any]:
        answer = self._client.request(method, path, json=body)
        if answer.status_code == httpx.codes.CONFLICT:  # it has this toxic already
            return {}
        answer.raise_for_status()
        return dict(answer.json())
