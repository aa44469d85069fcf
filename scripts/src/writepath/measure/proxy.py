"""A client of nginx's status page: how many connections the proxy has open, of how many."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import httpx

from writepath.measure.inspector import plain_client

if TYPE_CHECKING:
    from collections.abc import Mapping

PROXY = "nginx"
TIMEOUT_S = 0.3  # on loopback, from a page that asks nobody
_PAGE = re.compile(
    r"Active connections:\s*(?P<active>\d+)\s+server accepts handled requests\s+"
    r"(?P<accepted>\d+)\s+(?P<handled>\d+)\s+\d+\s+"
    r"Reading:\s*(?P<reading>\d+)\s+Writing:\s*(?P<writing>\d+)\s+Waiting:\s*(?P<waiting>\d+)"
)
_MOST = "Worker-Connections"  # a header of the page; nginx.conf.template fills it in


class Proxy:
    """Asked each second during a load, over one connection that stays open."""

    def __init__(self, base_url: str) -> None:
        self._client = plain_client(TIMEOUT_S, base_url)

    def close(self) -> None:
        """Ends the connection."""
        self._client.close()

    def gauges(self) -> Mapping[str, float]:
        """Empty where it does not answer in time.

        connections_open: clients', this one too, and one to an application for each request under way; idle ones
        that are kept to the applications are not known, at most 256.
        """
        try:
            answer = self._client.get("/nginx-status")
        except httpx.HTTPError:
            return {}
        found = _PAGE.match(answer.text)
        if found is None or not answer.headers.get(_MOST, "").isdigit():
            return {}
        page = {name: float(value) for name, value in found.groupdict().items()}
        return {
            "connections_open": page["active"] + page["writing"],
            "connections_idle": page["waiting"],
            "connections_max": float(answer.headers[_MOST]),
            "connections_refused": page["accepted"] - page["handled"],
        }
