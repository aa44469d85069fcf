import re
import uuid
from datetime import UTC, datetime, timedelta

import pytest

from contract.subject import Subject, assert_problem, eventually, token

FAMILY = "\U0001f468\u200d\U0001f469\u200d\U0001f467"  # one picture of five code points
STORABLE = {
    "one character": "x",
    "1,000 characters": "a" * 1000,
    "1,000 characters of three bytes": "영" * 1000,
    "1,000 characters of four bytes": "\U0001f600" * 1000,
    "joined emoji": f"a {FAMILY} family",
    "quotes": """'single' "double" `back` \\ backslash""",
    "lines and tabs": "first\nsecond\r\n\tthird",
    "SQL": "'); DROP TABLE post; --",
    "markup": "<script>alert(1)</script> &amp; ${jndi:ldap://x} {{7*7}}",
    "right to left": "\u05e9\u05dc\u05d5\u05dd \u202e abc",
    "blanks around": "  padded  ",
    "decomposed": "e\u0301 and \u1112\u1161\u11ab",
}


def test_a_write_answers_201_with_location_id_and_creation_time(subject: Subject) -> None:
    before = datetime.now(UTC) - timedelta(seconds=5)
    response = subject.write("a first post")
    assert response.status_code == 201
    answer = response.json()
    assert set(answer) == {"id", "createdAt"}
    assert response.headers["location"] == f"/api/posts/{answer['id']}"
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", answer["createdAt"])
    assert before < datetime.fromisoformat(answer["createdAt"]) < datetime.now(UTC) + timedelta(seconds=5)


def test_an_answer_is_sent_with_its_length_and_not_in_chunks(subject: Subject) -> None:
    for answer in (subject.write("a short answer"), subject.write("")):
        assert answer.headers["content-length"] == str(len(answer.content))
        assert "transfer-encoding" not in answer.headers


def test_the_server_makes_a_time_ordered_id(subject: Subject) -> None:
    ids = [uuid.UUID(subject.written("without an id")) for _ in range(3)]
    assert {each.version for each in ids} == {7}
    assert len(set(ids)) == 3


def test_a_post_is_found_by_its_id_and_any_canonical_uuid_is_one(subject: Subject) -> None:
    made_by_load = f"{uuid.uuid4().hex[:8]}-4567-8e89-8abc-0000000000ff"
    for post in (made_by_load, str(uuid.uuid4()), "00000000-0000-0000-0000-000000000001"):
        created = subject.write("found again", post).json()
        assert created["id"] == post
        assert subject.found(post) == {
            "id": post,
            "content": "found again",
            "createdAt": created["createdAt"],
        }


def test_content_is_stored_as_it_was_sent(subject: Subject, subtests: pytest.Subtests) -> None:
    posts = {name: subject.written(content) for name, content in STORABLE.items()}
    for name, content in STORABLE.items():
        with subtests.test(name):
            assert subject.found(posts[name])["content"] == content


def test_the_same_post_again_is_201_and_one_row(subject: Subject) -> None:
    post = str(uuid.uuid4())
    subject.fence()
    before = subject.count()
    answers = [subject.write("sent twice", post) for _ in range(3)]
    assert [answer.status_code for answer in answers] == [201, 201, 201]
    subject.fence()
    assert subject.count() == before + 2  # the post and the fence


def test_the_same_id_with_other_content_keeps_the_first(subject: Subject) -> None:
    post = str(uuid.uuid4())
    assert subject.write("the first", post).status_code == 201
    assert subject.found(post)["content"] == "the first"
    dead = subject.dead()
    second = subject.write("the second", post)
    if subject.queued:  # it cannot know yet: the consumer parks the second, and counts it
        assert second.status_code == 201
        eventually(lambda: subject.dead() == dead + 1, "the second is parked")
    else:
        assert_problem(second, 409)
    subject.fence()
    assert subject.found(post)["content"] == "the first"


def test_100_writes_by_concurrent_clients_are_all_stored_and_counted(subject: Subject) -> None:
    subject.fence()
    before = subject.count()
    word = token()
    answers = subject.write_all([f"{word} {number}" for number in range(100)])
    assert {answer.status_code for answer in answers} == {201}
    ids = {answer.json()["id"] for answer in answers}
    assert len(ids) == 100
    eventually(lambda: subject.count() == before + 100, "100 more are counted")
    stored = {row[0] for row in subject.rows("posts")[1:]}
    assert ids <= stored
    assert {post["id"] for post in subject.page(word, total=100, size=100)} == ids
