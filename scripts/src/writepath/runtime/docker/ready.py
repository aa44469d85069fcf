"""Is the started variant ready for load? Every inspector says so, and a post can be written and found."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import httpx

from writepath.errors import StartError

if TYPE_CHECKING:
    from collections.abc import Callable

    from writepath.runtime.docker.stack import DockerStack

READY_SECONDS = 300  # a busy machine with two cores; most are there in 20
_PROBE_SECONDS = 6  # the application answers within 5
_PAUSE_SECONDS = 0.1
_LOG_TAIL_LINES = 20


def await_ready(stack: DockerStack) -> None:
    """Returns once every part answers; StartError names the part that does not, with the end of its log."""
    deadline = time.monotonic() + READY_SECONDS
    inspectors = stack.inspected()
    with (
        httpx.Client(timeout=_PROBE_SECONDS, trust_env=False) as http,
        ThreadPoolExecutor(max(1, len(inspectors))) as pool,
    ):
        list(pool.map(lambda url: _poll(stack, deadline, url, lambda: _is_ready(http, url)), inspectors))
        if stack.base_url:
            written: list[str] = []
            _poll(stack, deadline, "a write through the proxy", lambda: _write(http, stack.base_url, written))
            _poll(stack, deadline, "the write's read-back", lambda: _found(http, stack.base_url, written[0]))


def _poll(stack: DockerStack, deadline: float, what: str, probe: Callable[[], str]) -> None:
    """Repeats a probe until it returns an empty string: the reason why not."""
    checked = time.monotonic()
    while reason := probe():
        now = time.monotonic()
        if now > deadline:
            ended = stack.tails(_LOG_TAIL_LINES)
            raise StartError(f"{what} was not ready in {READY_SECONDS} s: {reason}\n{ended}")
        if now - checked > 1:  # asking the engine costs more than asking the component
            checked = now
            if stack.lost_components():
                raise StartError(f"a component ended while starting: {stack.tails(_LOG_TAIL_LINES)}")
        time.sleep(_PAUSE_SECONDS)


def _is_ready(http: httpx.Client, url: str) -> str:
    try:
        response = http.get(f"{url}/ready")
    except httpx.TransportError as error:
        return f"{type(error).__name__} {error}"
    return "" if response.is_success else f"{response.status_code} {response.text[:300]}"


def _write(http: httpx.Client, base_url: str, written: list[str]) -> str:
    try:
        response = http.post(f"{base_url}/api/posts", json={"content": "the first write through the proxy"})
    except httpx.TransportError as error:
        return f"{type(error).__name__} {error}"
    if response.status_code != httpx.codes.CREATED:
        return f"{response.status_code} {response.text[:300]}"
    written.append(response.json()["id"])
    return ""


def _found(http: httpx.Client, base_url: str, post: str) -> str:
    try:
        response = http.get(f"{base_url}/api/posts/{post}")
    except httpx.TransportError as error:
        return f"{type(error).__name__} {error}"
    return "" if response.is_success else f"{response.status_code} {response.text[:300]}"
