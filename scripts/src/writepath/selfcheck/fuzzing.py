"""Sends requests that schemathesis makes from the OpenAPI document, and checks each answer against the document.

In turn: the document's examples, the edges of each schema, random requests (valid and not), and walks along its links.
"""

import hashlib
import json
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import jsonschema
import schemathesis
import yaml
from schemathesis.config import SchemathesisConfig
from schemathesis.core.transport import Response
from schemathesis.engine import events, from_schema
from schemathesis.engine.recorder import ScenarioRecorder
from schemathesis.generation.case import Case

from writepath.measure.inspector import plain_client
from writepath.selfcheck.changed import JSON, LOST, PROBLEM, STATUS_ERROR, STATUS_SERVER, TIMEOUT_S, Sent

ROOT = Path(__file__).resolve().parents[4]
READERS = 4  # of the store at a time
CONTRACT = ROOT / "services/post-web/src/main/resources/contract/openapi.yaml"
WINDOW_POSTS = 10_000  # that pages by number reach
PHASES = ("examples", "coverage", "fuzzing", "stateful")
RANDOM_PHASES = PHASES[2:]
# What Java calls white space; Python counts no-break spaces too.
BLANK = frozenset(
    map(chr, (*range(9, 14), *range(28, 33), 0x1680, *range(0x2000, 0x2007), *range(0x2008, 0x200B)))
)
BLANKS = BLANK | set("\u2028\u2029\u205f\u3000")
_SURROGATES = range(0xD800, 0xE000)


@dataclass(frozen=True, kw_only=True)
class Finding:
    """An answer that the document does not allow. request: a curl command that repeats it."""

    what: str
    request: str


@dataclass(frozen=True, kw_only=True)
class Fuzzed:
    """What was tried. created: ids that were answered 201; statuses: answers by method and status."""

    cases: Mapping[str, int]  # by phase
    statuses: Mapping[str, int]
    findings: tuple[Finding, ...]
    created: frozenset[str]
    requests: tuple[Sent, ...]
    seconds: float

    @property
    def tried(self) -> int:
        """Cases of all phases."""
        return sum(self.cases.values())


def document() -> dict[str, Any]:
    """The OpenAPI document of this checkout."""
    loaded: dict[str, Any] = yaml.safe_load(CONTRACT.read_text(encoding="utf-8"))
    return loaded


def fuzz(
    contract: dict[str, Any],
    base_url: str,
    *,
    examples: int,
    seed: int,
    queued: bool,
    phases: Sequence[str] = PHASES,
) -> Fuzzed:
    """Tries so many random examples of each operation. queued: a post may be found later than its 201."""
    began = time.monotonic()
    cases, statuses = Counter[str](), Counter[str]()
    findings: list[Finding] = []
    created: set[str] = set()
    requests: list[Sent] = []
    schema = schemathesis.openapi.from_dict(
        contract, config=_config(base_url, examples, seed, queued, phases)
    )
    for event in from_schema(schema).execute():
        match event:
            case events.NonFatalError():
                findings.append(
                    Finding(what=f"{event.info.title}: {event.info.message}", request=event.label)
                )
            case events.ScenarioFinished(recorder=recorder):
                cases[event.phase.value] += len(recorder.interactions)
                statuses.update(_statuses(recorder))
                created.update(_created(recorder))
                findings += _findings(recorder)
                requests += _requests(recorder)
            case _:
                pass
    return Fuzzed(
        cases=cases,
        statuses=statuses,
        findings=tuple(findings),
        created=frozenset(created),
        requests=tuple(requests),
        seconds=time.monotonic() - began,
    )


def _config(
    base_url: str, examples: int, seed: int, queued: bool, phases: Sequence[str]
) -> SchemathesisConfig:
    return SchemathesisConfig.from_dict(
        {
            "seed": seed,
            "base-url": base_url,
            "continue-on-failure": True,
            "cache": {"enabled": False},  # of what earlier runs met: each run is the same
            "request-timeout": TIMEOUT_S,
            "output": {"sanitization": {"enabled": False}},
            "generation": {"max-examples": examples, "no-shrink": True, "database": "none"},
            "phases": {
                **{name: {"enabled": name in phases} for name in PHASES},
                "stateful": {
                    "enabled": "stateful" in phases,
                    "generation": {"max-examples": max(1, examples // 4)},
                },
            },
            # The queue's consumer may need a moment to store what was answered 201.
            "checks": {"ensure_resource_availability": {"enabled": not queued}},
        }
    )


def _statuses(recorder: ScenarioRecorder) -> Iterator[str]:
    for one in recorder.interactions.values():
        yield f"{one.request.method} {LOST if one.response is None else one.response.status_code}"


def _created(recorder: ScenarioRecorder) -> Iterator[str]:
    for one in recorder.interactions.values():
        if one.response is not None and one.response.status_code == httpx.codes.CREATED:
            yield str(json.loads(one.response.content)["id"])


def _requests(recorder: ScenarioRecorder) -> Iterator[Sent]:
    for one in recorder.interactions.values():
        if one.request.method in ("GET", "POST"):
            place = urlsplit(one.request.uri)
            body, types = one.request.body or b"", one.request.headers.get("Content-Type", [JSON])
            yield Sent(one.request.method, f"{place.path}?{place.query}".rstrip("?").encode(), body, types[0])


def _findings(recorder: ScenarioRecorder) -> Iterator[Finding]:
    for case_id, checks in recorder.checks.items():
        case = recorder.cases[case_id].value
        for check in checks:
            failed = check.failure_info
            if failed is None or (check.name == "positive_data_acceptance" and forbidden_in_words(case)):
                continue
            yield Finding(
                what=f"{failed.failure.title}: {failed.failure.message}", request=failed.code_sample
            )
    for case_id, one in recorder.interactions.items():
        for what in [LOST] if one.response is None else objections(one.response):
            yield Finding(what=what, request=recorder.cases[case_id].value.as_curl_command())


def objections(answer: Response) -> Iterator[str]:
    """What is wrong with an answer, whatever was asked: 5xx, or an error that is no problem document."""
    if answer.status_code >= STATUS_SERVER:
        yield f"status {answer.status_code}"
    if answer.status_code < STATUS_ERROR or answer.request.method == "HEAD":
        return
    types = answer.headers.get("content-type", [])
    if [one.partition(";")[0] for one in types] != [PROBLEM]:
        yield f"status {answer.status_code} of type {types}"
    elif json.loads(answer.content).get("status") != answer.status_code:
        yield f"status {answer.status_code} with the problem {answer.content[:200]!r}"


def forbidden_in_words(case: Case[Any]) -> bool:
    """Whether the document forbids the request in a description only, which a schema cannot express."""
    query: Mapping[str, Any] = case.query or {}
    if "after" in query or text_objection(str(query.get("keyword", "x"))):
        return True
    if (_whole(query.get("page"), 0) + 1) * _whole(query.get("size"), 20) > WINDOW_POSTS:
        return True
    content = case.body.get("content") if isinstance(case.body, dict) else None
    return isinstance(content, str) and bool(text_objection(content))


def _whole(value: object, default: int) -> int:
    return default if value is None else int(str(value))


def text_objection(text: str) -> str:
    """What the document forbids in a text in words; empty where nothing is."""
    if set(text) <= BLANKS:  # empty, too
        return "is blank"
    if "\0" in text:
        return "has U+0000"
    return "has half of a surrogate pair" if any(ord(one) in _SURROGATES for one in text) else ""


def stored_objections(contract: Mapping[str, Any], post: Mapping[str, Any]) -> list[str]:
    """What the document forbids in a post that is stored: one as `GET /api/posts/{id}` answers it."""
    schemas = contract["components"]["schemas"]
    checker = jsonschema.FormatChecker(formats=["uuid"])
    request = {name: post[name] for name in ("id", "content") if name in post}
    found = [
        error.message
        for name, value in (("PostRequest", request), ("FoundPost", post))
        for error in jsonschema.Draft4Validator(schemas[name], format_checker=checker).iter_errors(value)
    ]
    if post["id"] != post["id"].lower():
        found.append(f"id {post['id']} is not canonical")
    words = text_objection(str(post["content"]))
    return [*found, f"content {words}"] if words else found


def wrong_posts(base_url: str, inspector_url: str, found: Fuzzed) -> list[str]:
    """In words, each post of the store that the document forbids, and each that was answered 201 and is not there."""
    with plain_client(TIMEOUT_S) as http, ThreadPoolExecutor(READERS) as pool:
        export = http.get(f"{inspector_url}/posts").text.splitlines()[1:]
        stored = dict(line.split(",")[:2] for line in export)
        ask = partial(_objections_to, document(), http, base_url)
        wrong = [line for lines in pool.map(ask, stored.items()) for line in lines]
    return wrong + [f"{post} was created and is not stored" for post in sorted(found.created - stored.keys())]


def _objections_to(
    contract: Mapping[str, Any], http: httpx.Client, base_url: str, stored: tuple[str, str]
) -> list[str]:
    post, content_hash = stored
    answer = http.get(f"{base_url}/api/posts/{post}")
    if answer.status_code != httpx.codes.OK:
        return [f"{post}: status {answer.status_code}"]
    found = stored_objections(contract, answer.json())
    if hashlib.sha256(answer.json()["content"].encode()).hexdigest()[: len(content_hash)] != content_hash:
        found.append("content is not what the inspector says")
    return [f"{post}: {what}" for what in found]


def together(rounds: Sequence[Fuzzed], seconds: float) -> Fuzzed:
    """The sum of several, which took so long."""
    return Fuzzed(
        cases=sum((Counter(one.cases) for one in rounds), Counter()),
        statuses=sum((Counter(one.statuses) for one in rounds), Counter()),
        findings=tuple(finding for one in rounds for finding in one.findings),
        created=frozenset[str]().union(*(one.created for one in rounds)),
        requests=(),
        seconds=seconds,
    )


def line(name: str, found: Fuzzed) -> str:
    """Variant, cases by phase, findings, seconds."""
    phases = ", ".join(f"{phase} {count:,}" for phase, count in found.cases.items())
    return (
        f"{name}: {found.tried:,} cases ({phases}), {len(found.findings)} findings, {found.seconds:.1f} s"
        f" ({found.tried / found.seconds:.0f} cases/s)"
    )
