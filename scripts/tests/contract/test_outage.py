import time
import uuid
from pathlib import Path

import httpx

from contract.subject import IN_FLIGHT_MAX, Subject, assert_try_later, eventually, place, token
from writepath.runtime import topology

ROOT = Path(__file__).resolve().parents[3]
DEADLINE_SECONDS = 5.0  # of the application
SLACK_SECONDS = 3.0  # of a busy machine
AT_ONCE_SECONDS = 2.0  # far below any time-out, far above what a busy machine needs to say no
BURST = 6 * IN_FLIGHT_MAX
AT_THE_CAP = f"serving {IN_FLIGHT_MAX} requests already"  # tells a refusal from a time-out


def backing_services(subject: Subject) -> list[str]:
    """What a 201 cannot be given without: the ingress's required dependencies."""
    ingress = topology.load(ROOT, subject.variant.settings).services[subject.variant.ingress]
    return [name for name, need in ingress.depends_on.items() if need.get("required", True)]


def test_too_much_in_flight_is_503_at_once_and_stores_nothing(subject: Subject) -> None:
    """What waits for a frozen backing service fills every instance; the others are told at once to come back."""
    before, counted = subject.count(), rejected(subject)
    frozen = backing_services(subject)[0]
    subject.stack.pause(frozen)
    try:
        answers = subject.write_all([f"burst {token()}"] * BURST, clients=BURST)
    finally:
        subject.stack.resume(frozen)
    refused = [answer for answer in answers if AT_THE_CAP in answer.text]
    acknowledged = sum(answer.status_code == httpx.codes.CREATED for answer in answers)
    for answer in answers:
        if answer.status_code != httpx.codes.CREATED:
            assert_try_later(answer, "application" if answer in refused else "store")
    assert sorted(answer.elapsed.total_seconds() for answer in refused)[len(refused) // 2] < AT_ONCE_SECONDS
    by_instance = [now - then for now, then in zip(rejected(subject), counted, strict=True)]
    assert len(by_instance) == 2
    assert all(by_instance)
    assert sum(by_instance) == len(refused)
    eventually(lambda: subject.write("after the burst").status_code == httpx.codes.CREATED, "it serves again")
    subject.fence()
    # Some that were admitted timed out: whether those are stored is not known.
    assert acknowledged <= subject.count() - before - 2 <= len(answers) - len(refused)


def rejected(subject: Subject) -> list[int]:
    """What each instance has refused so far."""
    return [int(gauges["in_flight_rejected"]) for gauges in subject.gauges(subject.variant.ingress)]


def test_without_its_backing_service_a_write_is_503_in_time_and_never_201(subject: Subject) -> None:
    subject.fence()
    backing = backing_services(subject)
    assert backing
    for service in backing:
        subject.stack.kill(service)
    answers = subject.write_all(["nowhere to go"] * 20, clients=20)
    answers += [subject.write("still nowhere") for _ in range(3)]
    for answer in answers:
        assert_try_later(answer, "store")
        assert answer.elapsed.total_seconds() < DEADLINE_SECONDS + SLACK_SECONDS
    eventually(lambda: not _ready(subject), "the inspector says that it is not ready")
    assert subject.stack.lost_components()
    _assert_reads_end_in_time(subject)


def _ready(subject: Subject) -> bool:
    url = subject.stack.inspector_urls(subject.variant.ingress)[0]
    response: httpx.Response = subject.http.get(place(url, "/actuator/health/readiness"))
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
