"""Does the inspector's client tell apart what was answered, refused, cut and not answered?"""

import hashlib
import json
import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from writepath.errors import AuditError
from writepath.load.ledger import NO_TIME
from writepath.load.plan import encode_id
from writepath.measure import inspector
from writepath.measure.inspector import PREFIX_LENGTH, Inspector, Pending, Rows

RUN = "0123456789abcde"
Answer = tuple[int, object]


@contextmanager
def serving(answers: Mapping[str, Answer], asked: list[str] | None = None) -> Iterator[str]:
    """A server of /inspector; an answer that is bytes is cut: it promises one byte more."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            what = self.path.removeprefix("/inspector/")
            if asked is not None:
                asked.append(f"{self.command} {what}")
            status, data = answers[what]
            if data is None:
                held.wait(10)  # an instance that hangs
                return
            body = data if isinstance(data, bytes) else json.dumps(data).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(body) + isinstance(data, bytes)))
            self.end_headers()
            self.wfile.write(body)

        do_POST = do_GET  # noqa: N815 - the name is http.server's

        def log_message(self, *_: object) -> None:
            """Says nothing."""

    held = threading.Event()
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/inspector"
    finally:
        held.set()
        server.shutdown()
        server.server_close()
        thread.join()


@contextmanager
def asking(*instances: Mapping[str, Answer], asked: list[str] | None = None) -> Iterator[Inspector]:
    with ExitStack() as stack:
        urls = [stack.enter_context(serving(answers, asked)) for answers in instances]
        client = Inspector("app", urls)
        stack.callback(client.close)
        yield client


def pending(in_flight: int, ready: int) -> Answer:
    return 200, {"in_flight": in_flight, "ready": ready, "unacknowledged": 1, "dead": 0}


def test_the_queue_is_one_whoever_looks_and_what_each_instance_holds_adds_up() -> None:
    with asking({"pending": pending(2, 7)}, {"pending": pending(3, 6)}) as client:
        assert client.pending() == Pending(in_flight=5, ready=7, unacknowledged=2, dead=0)


def test_what_a_search_finds_is_asked_in_one_question() -> None:
    asked: list[str] = []
    answers = {"visible?ids=a,b": (200, {"visible": ["b"]}), "visible?ids=c": (200, {"seen": []})}
    with asking(answers, asked=asked) as client:
        assert client.visible(["a", "b"]) == ["b"]
        with pytest.raises(AuditError, match="app: /inspector/visible answered"):
            client.visible(["c"])
    assert asked == ["GET visible?ids=a,b", "GET visible?ids=c"]


def test_gauges_add_up_over_instances_but_for_what_they_share() -> None:
    """Queue, database and index are the same ones, whoever of them looks."""
    shared = {"database_waiting": 4, "database_wait.IO.WalSync": 1, "index_write_queue": 6}
    one = {"gauges": (200, {"redelivered": 2, "queue_ready": 9, **shared})}
    other = {"gauges": (200, {"redelivered": 3, "queue_ready": 8, **shared, "index_write_queue": 7})}
    counted = {"redelivered": 5.0, "redelivered@1": 2.0, "redelivered@2": 3.0}  # each restarts by itself
    with asking(one, other) as client:
        assert client.gauges() == {**counted, "queue_ready": 9.0, **shared, "index_write_queue": 7}


def test_an_instance_that_hangs_does_not_hold_up_the_gauges_of_the_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(inspector, "GAUGE_TIMEOUT_S", 0.2)
    with asking(
        {"gauges": (200, None)}, {"gauges": (200, {"in_flight": 1})}, {"gauges": (500, {})}
    ) as client:
        assert client.gauges() == {"in_flight": 1.0}


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ((503, {"detail": "store is down"}), "app: /inspector/count answered 503: .*store is down"),
        ((200, b"{"), "app: /inspector/count did not answer"),
        ((200, "no number"), "app: /inspector/count"),
        ((200, {"rows": 1}), "app: /inspector/count"),
    ],
)
def test_an_answer_that_cannot_be_used_is_an_error_that_names_service_and_path(
    answer: Answer, words: str
) -> None:
    with asking({"count": answer}) as client, pytest.raises(AuditError, match=words):
        client.count()
    gone = Inspector("app", client.urls)
    with closing(gone), pytest.raises(AuditError, match="did not answer"):
        gone.count()


def test_rows_that_end_before_their_announced_length_are_an_error() -> None:
    body = f"id,content_hash,durable_at_us\n{encode_id(RUN, 1)},{'0' * 16},1\n".encode()
    rows = Rows(encode_id(RUN, 0)[:PREFIX_LENGTH], hashed=True)
    with asking({"posts": (200, body)}) as client, pytest.raises(AuditError, match="could not be read"):
        client.read_posts(rows)


PREFIX = encode_id(RUN, 0)[:PREFIX_LENGTH]
LINES = ["하나", "two", "three, with a comma"]
HEADER = "id,content_hash,durable_at_us\n"


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def post(sequence: int, content: str | None = None, at_us: int | str = 1_700_000_000_123_456) -> str:
    text = LINES[sequence % len(LINES)] if content is None else content
    return f"{encode_id(RUN, sequence)},{digest(text)},{at_us}\n"


def read(chunks: Iterable[bytes], *, hashed: bool = True) -> Rows:
    rows = Rows(PREFIX, hashed=hashed)
    rows.read(chunks)
    return rows


def test_sequence_content_and_moment_are_read() -> None:
    body = (HEADER + post(4) + post(2**40) + post(1, "changed")).encode()
    rows = read([body[:30], body[30:90], body[90:]])
    held = inspector.assemble(rows, Rows(PREFIX, hashed=False), inspector.content_hashes(LINES))
    assert held.seq.tolist() == [4, 2**40, 1]
    assert held.content_ok.tolist() == [True, True, False]
    assert held.durable_at_us.tolist() == [1_700_000_000_123_456] * 3
    assert len(read([HEADER.encode()]).seq) == 0


def test_ids_of_other_runs_and_ids_that_are_none_are_foreign() -> None:
    other = encode_id("fffffffffffffff", 1)
    upper = encode_id(RUN, 10).upper()
    lines = "".join(f"{name},{digest('x')},\n" for name in (other, upper, "z" * 36))
    assert read([(HEADER + lines).encode()]).foreign_ids == [other, upper, "z" * 36]


def test_a_missing_moment_is_taken_from_the_first_commit_known() -> None:
    rows = read([(HEADER + post(0, at_us="") + post(1, at_us="") + post(2, at_us=9_000)).encode()])
    commits = Rows(PREFIX, hashed=False)
    for at_us in (8_000, "", 5_000):
        commits.read([f"id,durable_at_us\n{encode_id(RUN, 0)},{at_us}\n{encode_id(RUN, 2)},1\n".encode()])
    held = inspector.assemble(rows, commits, inspector.content_hashes(LINES))
    assert held.durable_at_us.tolist() == [5_000, NO_TIME, 9_000]


@pytest.mark.parametrize(
    "body",
    [
        "",
        "id,hash\n",
        HEADER + post(1)[:-5],
        HEADER + "short\n",
        HEADER + f"{encode_id(RUN, 1)},{'x' * 16},1\n",
        HEADER + post(1, at_us="noon"),
    ],
)
def test_an_answer_that_is_cut_or_in_another_form_is_an_error(body: str) -> None:
    with pytest.raises(AuditError):
        read([body.encode()])
