"""Changes bytes of generated requests, sends them as they are, and checks each answer against the OpenAPI document."""

import json
import random
import re
import socket
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from http.client import HTTPException, HTTPResponse
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import jsonschema_rs

PROBLEM = "application/problem+json"
JSON = "application/json"
TIMEOUT_S = 15  # longer than the proxy's 10 s, so that its answer is seen
LOST = "no answer"
STATUS_CREATED, STATUS_ERROR, STATUS_SERVER = 201, 400, 500
CHANGES_MAX = 4
SLICE_MAX = 24  # bytes that are deleted, repeated or taken from another request
TOKENS = (
    *(
        b"\0",
        b"%00",
        b"\xff",
        b"\xed\xa0\x80",
        b"\xf0\x9f\x98\x80",
        b"\xe2\x80\xae",
        b"%",
        b"%ff",
        b"%2e%2e/",
    ),
    *(b'"', b"\\", b"\\u0000", b"\\ud800", b"{", b"}", b"[", b"]", b",", b":", b"//", b"/*", b"\r\n"),
    *(
        b"null",
        b"true",
        b"NaN",
        b"-0",
        b"1e999",
        b"0x10",
        b"9" * 40,
        b"&size=",
        b"&page=",
        b"&after=",
        b"&",
        b"=",
    ),
    *(b'"id":', b'"content":', b"[" * 500, b"a" * 1001, b"/", b";", b"?", b"#", b"+", b"' OR 1=1 --", b"../"),
)
_CONTROL = re.compile(rb"[\x00-\x20\x7f]")  # would end the request line


class Sent(NamedTuple):
    """A request: target is path and query; content_type where there is a body."""

    method: str
    target: bytes
    body: bytes
    content_type: str

    def encoded(self) -> bytes:
        """As it is sent: always framed as it says, so that what was changed is what is tested."""
        target = _CONTROL.sub(lambda found: b"%%%02X" % found[0][0], self.target)
        head = b"%s /%s HTTP/1.1\r\nHost: localhost\r\n" % (self.method.encode(), target.lstrip(b"/"))
        if self.method == "POST" or self.body:
            head += f"Content-Type: {self.content_type}\r\nContent-Length: {len(self.body)}\r\n".encode()
        return head + b"\r\n" + self.body


class Answer(NamedTuple):
    """What came back."""

    status: int
    content_type: str
    body: bytes


class Checker:
    """What the document says of an answer."""

    def __init__(self, contract: Mapping[str, Any]) -> None:
        self._schemas = {
            name: jsonschema_rs.Draft4Validator(
                {"$ref": f"#/components/schemas/{name}", "components": contract["components"]}
            )
            for name in ("CreatedPost", "FoundPage", "FoundPost", "Problem")
        }

    def objections(self, sent: Sent, answer: Answer) -> Iterator[str]:
        """What is wrong, in words: a 5xx, another type, a body that the document does not have."""
        if answer.status >= STATUS_SERVER:
            yield f"status {answer.status}"
        error = answer.status >= STATUS_ERROR
        if answer.content_type != (PROBLEM if error else JSON):
            yield f"status {answer.status} of type {answer.content_type}"
            return
        body = json.loads(answer.body)
        names = (
            ["Problem"] if error else ["CreatedPost"] if sent.method == "POST" else ["FoundPage", "FoundPost"]
        )
        fits = not error or body.get("status") == answer.status
        if not fits or not any(self._schemas[name].is_valid(body) for name in names):
            yield f"status {answer.status} with {answer.body[:200]!r}"


def change(requests: Sequence[Sent], rng: random.Random) -> Sent:
    """One of the requests, changed in up to four places of its target or body."""
    sent, other = rng.choice(requests), rng.choice(requests)
    in_body = bool(sent.body) and rng.random() < 0.8  # noqa: PLR2004 - a POST's target has little in it
    data = bytearray(sent.body if in_body else sent.target)
    for _ in range(rng.randint(1, CHANGES_MAX)):
        at = rng.randint(0, len(data))
        length = rng.randint(1, SLICE_MAX)
        match rng.randrange(5):
            case 0 if data:
                data[at % len(data)] ^= 1 << rng.randrange(8)
            case 1:
                del data[at : at + length]
            case 2:
                data[at:at] = data[at : at + length]
            case 3:
                begin = rng.randint(0, len(other.body or other.target))
                data[at:at] = (other.body or other.target)[begin : begin + length]
            case _:
                data[at:at] = rng.choice(TOKENS)
    return sent._replace(body=bytes(data)) if in_body else sent._replace(target=bytes(data))


class Client:
    """One connection, opened again where the other side ends it."""

    def __init__(self, base_url: str) -> None:
        place = urlsplit(base_url)
        self._place = place.hostname or "", place.port or 80
        self._socket: socket.socket | None = None

    def ask(self, sent: Sent) -> Answer | None:
        """None where the connection ends without an answer."""
        if self._socket is None:
            self._socket = socket.create_connection(self._place, timeout=TIMEOUT_S)
        try:
            self._socket.sendall(sent.encoded())
            answer = HTTPResponse(self._socket, method=sent.method)
            answer.begin()
            body = answer.read()
        except (HTTPException, OSError):
            self.close()
            return None
        if answer.will_close:
            self.close()
        return Answer(answer.status, answer.headers.get_content_type(), body)

    def close(self) -> None:
        """Ends the connection."""
        if self._socket is not None:
            self._socket.close()
        self._socket = None


class Tried(NamedTuple):
    """What the changed requests led to. findings: what is wrong, and the request."""

    statuses: Counter[str]
    findings: list[tuple[str, str]]
    created: set[str]


def send(
    contract: Mapping[str, Any], base_url: str, requests: Sequence[Sent], *, cases: int, seed: int
) -> Tried:
    """So many changed requests, one after the other."""
    rng, client, checker = random.Random(seed), Client(base_url), Checker(contract)  # noqa: S311 - no secret
    tried = Tried(Counter(), [], set())
    for _ in range(cases):
        sent = change(requests, rng)
        answer = client.ask(sent)
        wrong = [LOST] if answer is None else checker.objections(sent, answer)
        tried.statuses[f"{sent.method} {LOST if answer is None else answer.status}"] += 1
        tried.findings.extend((what, repr(sent.encoded()[:2000])) for what in wrong)
        if answer is not None and answer.status == STATUS_CREATED:
            tried.created.add(str(json.loads(answer.body)["id"]))
    client.close()
    return tried
