"""How does a variant come up? Every part at once, each probed by itself, until a real write went through."""

from __future__ import annotations

import shutil
import threading
import time
import uuid
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from typing import TYPE_CHECKING

from writepath.errors import StartError, WritepathError
from writepath.runtime.native import nginx, probe, recipes

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from writepath.runtime.native.part import Place
    from writepath.runtime.native.stack import NativeStack

READY_SECONDS = 120.0
_PAUSE_SECONDS = 0.05
_CHECK_SECONDS = 0.2
_CREATED, _OK = 201, 200


def bring_up(stack: NativeStack, failed_logs: Path) -> dict[str, float]:
    """Starts all parts side by side; seconds until each was ready, by component and for the first write.

    StartError names the component that failed and quotes the end of its log; all logs are then in failed_logs.
    """
    started = time.monotonic()
    seconds: dict[str, float] = {}
    given_up = threading.Event()

    def bring(name: str, place: Place) -> None:
        recipe = recipes.of(place.service)
        for part in recipe.launch(place):
            stack.start(part, place)
        _poll(lambda: recipe.is_ready(place), name, started, given_up)
        seconds[name] = time.monotonic() - started

    pool = ThreadPoolExecutor(len(stack.places), thread_name_prefix="start")
    try:
        _await(stack, [pool.submit(bring, name, place) for name, place in stack.places.items()])
        proxy = next((place for place in stack.places.values() if place.service.image_name == "nginx"), None)
        if proxy is not None and any(place.service.module for place in stack.places.values()):
            _await(stack, [pool.submit(_first_write, nginx.port(proxy), started, given_up)])
            seconds["first write"] = time.monotonic() - started
    except WritepathError as error:
        shutil.rmtree(failed_logs, ignore_errors=True)
        stack.save_logs(failed_logs)
        raise type(error)(f"{error}\nAll logs: {failed_logs}") from error
    finally:
        given_up.set()
        pool.shutdown()
    return seconds


def _await(stack: NativeStack, jobs: list[Future[None]]) -> None:
    """Until all are done; fails as soon as a process has ended or a job has failed."""
    pending = set(jobs)
    while pending:
        done, pending = wait(pending, timeout=_CHECK_SECONDS, return_when=FIRST_EXCEPTION)
        dead = stack.dead()
        if dead is not None:
            lost = "; ".join(stack.lost_components())
            raise StartError(f"{lost} while starting. The end of its log:\n{dead.log_tail()}")
        for job in done:
            _raise(stack, job)


def _raise(stack: NativeStack, job: Future[None]) -> None:
    try:
        job.result()
    except _NotReadyError as error:
        tail = stack.tail(error.component)
        quoted = f" The end of its log:\n{tail}" if tail else ""
        raise StartError(f"{error.component}: not ready after {READY_SECONDS:.0f} s.{quoted}") from error


class _NotReadyError(Exception):
    def __init__(self, component: str) -> None:
        super().__init__(component)
        self.component = component


def _poll(ready: Callable[[], bool], component: str, started: float, given_up: threading.Event) -> None:
    while not ready():
        if given_up.wait(_PAUSE_SECONDS):
            return
        if time.monotonic() > started + READY_SECONDS:
            raise _NotReadyError(component)


def _first_write(port: int, started: float, given_up: threading.Event) -> None:
    """One post through the proxy, until it is acknowledged, then until it is found."""
    post = str(uuid.uuid4())
    body = {"id": post, "content": "Is this path ready?"}
    _poll(
        lambda: probe.http_request("POST", port, "/api/posts", body)[0] == _CREATED,
        "a write through the proxy",
        started,
        given_up,
    )
    _poll(
        lambda: probe.http_request("GET", port, f"/api/posts/{post}")[0] == _OK,
        "the write's read-back",
        started,
        given_up,
    )
