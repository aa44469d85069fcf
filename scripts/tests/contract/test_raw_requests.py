"""What no client library would send is refused or ends the connection in time, and leaves nothing behind."""

import json
import socket
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPException, HTTPResponse
from typing import Any

import httpx

from contract.subject import PROBLEM, Subject, eventually
from native_stack import processes
from writepath.measure.truth import proxy_gauges
from writepath.runtime.base import PROXY, PROXY_PORT
from writepath.runtime.native.stack import NativeStack
from writepath.runtime.network import LOOPBACK

IN_TIME_SECONDS = 15.0  # the proxy waits 10 s for more of a request, the application 5 s
SETTLED_SECONDS = 60.0
CLOSED = 0  # in the place of a status
# RFC 9112, 6.3: the chunks count, and the connection ends, so that nothing can hide behind the body. So does Tomcat.
SERVED = frozenset({"a length and chunks"})
MORE = {"threads": 4}  # the JVM's own: compilers, carriers of virtual threads
MIB = 1 << 20
JSON = "Content-Type: application/json\r\n"
GOOD = b'{"content":"raw"}'


def _post(headers: str, body: bytes) -> bytes:
    return f"POST /api/posts HTTP/1.1\r\nHost: localhost\r\n{JSON}{headers}\r\n".encode() + body


def _sized(body: bytes) -> bytes:
    return _post(f"Content-Length: {len(body)}\r\n", body)


# What is sent; whether the client then says that nothing follows, as one that was cut off would.
CASES: dict[str, tuple[bytes, bool]] = {
    "a chunked body that ends in a chunk": (_post("Transfer-Encoding: chunked\r\n", b"40\r\n" + GOOD), True),
    "a chunk that is not as long as it says": (
        _post("Transfer-Encoding: chunked\r\n", b"2\r\n" + GOOD + b"\r\n0\r\n\r\n"),
        False,
    ),
    "a chunk without a length": (_post("Transfer-Encoding: chunked\r\n", b"zz\r\n" + GOOD), False),
    "a body that ends early": (_post("Content-Length: 100\r\n", GOOD), True),
    "two lengths": (_post(f"Content-Length: {len(GOOD)}\r\nContent-Length: 3\r\n", GOOD), False),
    "a length and chunks": (
        _post(
            f"Content-Length: {len(GOOD)}\r\nTransfer-Encoding: chunked\r\n",
            b"%x\r\n%s\r\n0\r\n\r\n" % (len(GOOD), GOOD),
        ),
        False,
    ),
    "a negative length": (_post("Content-Length: -1\r\n", GOOD), False),
    "bytes that are not UTF-8": (_sized(b'{"content":"\xc3\x28\xff"}'), False),
    "NUL in JSON": (_sized(b'{"content":"a\0b"}'), False),
    "an escaped NUL in JSON": (_sized(b'{"content":"a\\u0000b"}'), False),
    "JSON 1,000 deep": (_sized(b'{"content":' + b"[" * 1000 + b"]" * 1000 + b"}"), False),
    "objects 1,000 deep": (_sized(b'{"content":' * 1000 + b"1" + b"}" * 1000), False),
    "NUL in the path": (b"GET /api/posts/a\0b HTTP/1.1\r\nHost: localhost\r\n\r\n", False),
    "an encoded NUL in the path": (b"GET /api/posts/a%00b HTTP/1.1\r\nHost: localhost\r\n\r\n", False),
    "a path that leads out": (b"GET /api/../../etc/passwd HTTP/1.1\r\nHost: localhost\r\n\r\n", False),
    "no host": (b"GET /api/posts/1 HTTP/1.1\r\n\r\n", False),
    "a header of 1 MiB": (_post("X: " + "a" * MIB + "\r\n", GOOD), False),
    "a line of 1 MiB": (b"GET /" + b"a" * MIB + b" HTTP/1.1\r\nHost: localhost\r\n\r\n", False),
    "nonsense": (b"\x16\x03\x01\x02\x00\x01\r\n\r\n", False),
    # Nothing follows for longer than any time-out, and then it is too late.
    "a body that stalls": (_post("Content-Length: 100\r\n", b"{"), False),
    "headers that stall": (b"POST /api/posts HTTP/1.1\r\nHost: local", False),
}


def _status(port: int, sent: bytes, *, cut: bool, served: bool) -> int:
    """Of the answer, a problem document; CLOSED where the connection ends, after a 201 where one is served."""
    with socket.create_connection((LOOPBACK, port), timeout=IN_TIME_SECONDS) as connection:
        try:
            connection.sendall(sent)
            if cut:
                connection.shutdown(socket.SHUT_WR)
        except (BrokenPipeError, ConnectionResetError):
            pass  # refused before all of it was sent: the answer may still be read
        answer = HTTPResponse(connection)
        try:
            answer.begin()
            body = answer.read()
        except (HTTPException, ConnectionError):
            return CLOSED
        if served and answer.status == httpx.codes.CREATED and connection.recv(1) == b"":
            return CLOSED
    assert answer.headers["Content-Type"] == PROBLEM, (answer.status, body[:200])
    assert json.loads(body)["status"] == answer.status
    return answer.status


def _wrong(port: int, name: str) -> str:
    """What is wrong with how a case is refused, if anything."""
    sent, cut = CASES[name]
    began = time.monotonic()
    try:
        status = _status(port, sent, cut=cut, served=name in SERVED)
    except (AssertionError, TimeoutError, ValueError) as error:
        return f"{type(error).__name__}: {error}"
    took_s = time.monotonic() - began
    if status != CLOSED and not 400 <= status < 500:
        return f"status {status}"
    return "" if took_s < IN_TIME_SECONDS else f"after {took_s:.1f} s"


def _all_wrong(ports: Mapping[str, int]) -> dict[str, str]:
    """By place and case, what is wrong; all are sent at once."""
    with ThreadPoolExecutor(len(CASES) * len(ports)) as pool:
        found = {
            f"{place}: {name}": pool.submit(_wrong, port, name)
            for place, port in ports.items()
            for name in CASES
        }
        return {name: words for name, one in found.items() if (words := one.result())}


def _connections(stack: NativeStack, ingress: str) -> int:
    """Of clients to the application, without the proxy's, which it keeps for later requests."""
    proxy = {one.laddr.port for one in _sockets(stack, PROXY)}
    ports = set(stack.ports(ingress, PROXY_PORT))
    ours = [one for one in _sockets(stack, ingress) if one.laddr.port in ports and one.raddr]
    return sum(one.raddr.port not in proxy for one in ours)


def _sockets(stack: NativeStack, component: str) -> list[Any]:
    """Every TCP socket of its processes."""
    return [one for process in processes(stack, component) for one in process.net_connections("tcp")]


def _held(subject: Subject) -> dict[str, float]:
    """What a request could leave behind: permits, connections, threads."""
    stack, ingress = subject.stack, subject.variant.ingress
    found = {
        "in flight": sum(each["in_flight"] for each in subject.gauges(ingress)),
        "connections to the proxy": proxy_gauges(subject.http)["connections_open"],
    }
    if isinstance(stack, NativeStack):
        found["connections to the application"] = _connections(stack, ingress)
        found["threads"] = sum(process.num_threads() for process in processes(stack, ingress))
    return found


def test_a_malformed_request_is_refused_in_time_and_leaves_nothing_behind(subject: Subject) -> None:
    stack, ingress = subject.stack, subject.variant.ingress
    ports = {"proxy": stack.ports(PROXY, PROXY_PORT)[0]}
    if isinstance(stack, NativeStack):  # a container's own port is not published
        ports["application"] = stack.ports(ingress, PROXY_PORT)[0]
    subject.fence()
    count, before = subject.count(), _held(subject)
    assert before["in flight"] == 0
    assert _all_wrong(ports) == {}

    def settled() -> bool:
        return all(held <= before[name] + MORE.get(name, 0) for name, held in _held(subject).items())

    eventually(settled, f"as few as {before}", SETTLED_SECONDS)
    subject.fence()
    served = len(SERVED) if "application" in ports else 0
    assert subject.count() == count + served + 1
