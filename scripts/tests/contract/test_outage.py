from __future__ import annotations

import time
import uuid
from pathlib import Path
from typing import TYPE_CHECKING

from contract.subject import assert_try_later, eventually
from writepath.runtime import topology

if TYPE_CHECKING:
    import httpx

    from contract.subject import Subject

ROOT = Path(__file__).resolve().parents[3]
DEADLINE_SECONDS = 5.0  # of the application
SLACK_SECONDS = 1.0  # of a busy machine


def backing_services(subject: Subject) -> list[str]:
    """What a 201 cannot be given without: the ingress's required dependencies."""
    ingress = topology.load(ROOT, subject.variant.settings).services[subject.variant.ingress]
    return [need.service for need in ingress.depends_on if need.required]


def test_without_its_backing_service_a_write_is_503_in_time_and_never_201(subject: Subject) -> None:
    subject.fence()
    backing = backing_services(subject)
    assert backing
    for service in backing:
        subject.stack.kill(service)
    answers = subject.write_all(["nowhere to go"] * 20)
    answers += [subject.write("still nowhere") for _ in range(3)]
    for answer in answers:
        assert_try_later(answer, "store")
        assert answer.elapsed.total_seconds() < DEADLINE_SECONDS + SLACK_SECONDS
    eventually(lambda: not _ready(subject), "the inspector says that it is not ready")
    assert subject.stack.lost_components()
    _assert_reads_end_in_time(subject)


def _ready(subject: Subject) -> bool:
    url = subject.stack.inspector_urls(subject.variant.ingress)[0]
    response: httpx.Response = subject.http.get(f"{url}/ready")
    assert response.status_code in {200, 503}
    return response.is_success


def _assert_reads_end_in_time(subject: Subject) -> None:
    """A queue's outage leaves the store readable; a store's own outage is a 503 for reads too."""
    started = time.monotonic()
    answer = subject.http.get(f"/api/posts/{uuid.uuid4()}")
    assert time.monotonic() - started < DEADLINE_SECONDS + SLACK_SECONDS
    if subject.queued:
        assert answer.status_code == 404
    else:
        assert_try_later(answer)
