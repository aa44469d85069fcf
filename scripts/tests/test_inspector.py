"""Does the inspector's client tell apart what was answered, refused, cut and not answered?"""

import hashlib
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from threading import Event

import pytest

from http_server import Answer, Request, exposed, serving
from writepath.errors import AuditError
from writepath.load.ledger import NO_TIME
from writepath.load.plan import encode_id
from writepath.measure import inspector, metrics, rows
from writepath.measure.inspector import Inspector, Pending
from writepath.measure.rows import COMMITS, POSTS, Rows

RUN = "0123456789abcde"
SCRAPE = metrics.PATH.partition("?")[0]
CUT = {"Content-Length": "1000", "Connection": "close"}


@contextmanager
def asking(*instances: Mapping[str, Answer | Event], asked: list[str] | None = None) -> Iterator[Inspector]:
    """By instance, the answers below /inspector; an event: it hangs until then."""

    def serve(answers: Mapping[str, Answer | Event]) -> str:
        def answer(request: Request) -> Answer | None:
            what = request.path.removeprefix("/inspector/").partition("?includedNames")[0]
            if asked is not None:
                asked.append(f"{request.method} {what}")
            found = answers[what]
            if isinstance(found, Event):
                found.wait(10)
                return None
            return found

        return f"{stack.enter_context(serving(answer))}/inspector"

    with ExitStack() as stack:
        client = Inspector("app", [serve(answers) for answers in instances])
        stack.callback(client.close)
        yield client


def pending(in_flight: int, ready: int) -> Answer:
    return Answer(200, {"in_flight": in_flight, "ready": ready, "unacknowledged": 1, "dead": 0})


def test_the_queue_is_one_whoever_looks_and_what_each_instance_holds_adds_up() -> None:
    with asking({"pending": pending(2, 7)}, {"pending": pending(3, 6)}) as client:
        assert client.pending() == Pending(in_flight=5, ready=7, unacknowledged=2, dead=0)


def test_what_a_search_finds_is_asked_in_one_question() -> None:
    asked: list[str] = []
    answers = {"visible?ids=a,b": Answer(200, {"visible": ["b"]}), "visible?ids=c": Answer(200, {"seen": []})}
    with asking(answers, asked=asked) as client:
        assert client.visible(["a", "b"]) == ["b"]
        with pytest.raises(AuditError, match="app: /inspector/visible answered"):
            client.visible(["c"])
    assert asked == ["GET visible?ids=a,b", "GET visible?ids=c"]


def test_gauges_add_up_over_instances_but_for_what_they_share() -> None:
    """Queue, database and index are the same ones, whoever of them looks."""
    shared = {"database_waiting": 4, "index_write_queue": 6}
    one = {SCRAPE: Answer(200, exposed({"redelivered": 2, "queue_ready": 9, **shared}))}
    other = {
        SCRAPE: Answer(200, exposed({"redelivered": 3, "queue_ready": 8, **shared, "index_write_queue": 7}))
    }
    counted = {"redelivered": 5.0, "redelivered@1": 2.0, "redelivered@2": 3.0}  # each restarts by itself
    with asking(one, other) as client:
        assert client.gauges() == {**counted, "queue_ready": 9.0, **shared, "index_write_queue": 7}


def test_an_instance_that_hangs_does_not_hold_up_the_gauges_of_the_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(inspector, "GAUGE_TIMEOUT_S", 0.2)
    hanging = Event()
    answers = (hanging, Answer(200, exposed({"in_flight": 1})), Answer(500, {}), Answer(200, b"no metrics {"))
    with asking(*({SCRAPE: answer} for answer in answers)) as client:
        assert client.gauges() == {"in_flight": 1.0}
        hanging.set()


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (Answer(503, {"detail": "store is down"}), "app: /inspector/count answered 503: .*store is down"),
        (Answer(200, b"{"), "app: /inspector/count answered {"),
        (Answer(200, b"{", CUT), "app: /inspector/count did not answer"),
        (Answer(200, "no number"), "app: /inspector/count"),
        (Answer(200, {"rows": 1}), "app: /inspector/count"),
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


LINES = ["하나", "two", "three, with a comma"]
HEADER = "id,content_hash,durable_at_us\n"


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def post(sequence: int, content: str | None = None, at_us: int | str = 1_700_000_000_123_456) -> str:
    text = LINES[sequence % len(LINES)] if content is None else content
    return f"{encode_id(RUN, sequence)},{digest(text)},{at_us}\n"


def posts(*lines: str) -> Rows:
    return rows.parse("".join((HEADER, *lines)).encode(), RUN, POSTS)


def test_sequence_content_and_moment_are_read() -> None:
    body = "".join((HEADER, post(4), post(2**40), post(1, "changed"))).encode()
    with asking({"posts": Answer(200, body), "commits": Answer(200, b"id,durable_at_us\n")}) as client:
        read, commits = client.posts(RUN), client.commits(RUN)
    held = rows.assemble(read, commits, rows.content_hashes(LINES))
    assert held.seq.tolist() == [4, 2**40, 1]
    assert held.content_ok.tolist() == [True, True, False]
    assert held.durable_at_us.tolist() == [1_700_000_000_123_456] * 3
    assert posts().own.num_rows == 0
    with (
        asking({"posts": Answer(200, body, CUT)}) as client,
        pytest.raises(AuditError, match="/posts did not"),
    ):
        client.posts(RUN)


def test_ids_of_other_runs_and_ids_that_are_none_are_foreign() -> None:
    foreign = (encode_id("fffffffffffffff", 1), encode_id(RUN, 10).upper(), "z" * 36)
    assert posts(*(f"{name},{digest('x')},\n" for name in foreign)).foreign_ids == foreign


def test_a_missing_moment_is_taken_from_the_first_commit_known() -> None:
    read = posts(post(0, at_us=""), post(1, at_us=""), post(2, at_us=9_000))
    commits = [
        f"id,durable_at_us\n{encode_id(RUN, 0)},{at_us}\n{encode_id(RUN, 2)},1\n".encode()
        for at_us in (8_000, "", 5_000)
    ]
    parsed = [rows.parse(body, RUN, COMMITS) for body in commits]
    held = rows.assemble(read, parsed, rows.content_hashes(LINES))
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
        rows.parse(body.encode(), RUN, POSTS)
