"""A client of Toxiproxy's API: breaks the network between the applications and their stores."""

import re
from collections.abc import Mapping
from typing import Any

import httpx

from writepath.measure.inspector import plain_client

API_PORT = 8474
SERVICE = "toxiproxy"
_SECONDS = 5.0
_COUNTER = 'toxiproxy_proxy_received_bytes_total\\{{[^}}]*proxy="{}"[^}}]*\\}} ([0-9.e+]+)'


class Toxiproxy:
    """One running Toxiproxy; a proxy of it is named after the compose service behind it."""

    def __init__(self, address: str) -> None:
        """Address: host:port of its API."""
        self.url = f"http://{address}"
        self._client = plain_client(_SECONDS, self.url)

    def close(self) -> None:
        """Ends its connections."""
        self._client.close()

    def enable(self, proxy: str, *, enabled: bool) -> None:
        """Off: open connections are closed, new ones refused."""
        self._ask("POST", f"/proxies/{proxy}", {"enabled": enabled})

    def add(self, proxy: str, kind: str, stream: str, attributes: Mapping[str, int]) -> None:
        """A toxic for every connection; stream: upstream (requests) or downstream (answers)."""
        body = {"name": f"{kind}-{stream}", "type": kind, "stream": stream, "attributes": dict(attributes)}
        self._ask("POST", f"/proxies/{proxy}/toxics", body)

    def is_broken(self, proxy: str) -> bool:
        """Whether it is off or has a toxic, read back."""
        found = self._ask("GET", f"/proxies/{proxy}").json()
        return not found["enabled"] or bool(found["toxics"])

    def reset(self) -> None:
        """Removes every toxic and enables every proxy."""
        self._ask("POST", "/reset")

    def received_bytes(self, proxy: str) -> float:
        """What came into the proxy from both sides since it was started."""
        metrics = self._ask("GET", "/metrics").text
        return sum(float(value) for value in re.findall(_COUNTER.format(re.escape(proxy)), metrics))

    def _ask(self, method: str, path: str, body: Any = None) -> httpx.Response:
        answer = self._client.request(method, path, json=body)
        if answer.status_code != httpx.codes.CONFLICT:  # it has this toxic already
            answer.raise_for_status()
        return answer
