import hashlib
import json

from contract.subject import LINES_OF_JSON, Subject, assert_problem, made, token


def test_what_was_loaded_is_counted_exported_and_searched(subject: Subject) -> None:
    subject.empty()
    word = token()
    posts = [made(number, f"{word} 영화 \U0001f600 \\ {number}") for number in range(2500)]
    assert subject.ask("POST", "load/begin").json() == {}
    for start in (0, 1000, 2000):
        part = posts[start : start + 1000]
        assert subject.load(part).json() == {"posts": len(part)}
    finished = subject.ask("POST", "load/finish").json()
    assert (finished["build_seconds"] is not None) == (subject.search_index in {"trigram", "bigram"})
    assert finished["settle_seconds"] > 0
    assert subject.inspect("/actuator/health/readiness")["status"] == "UP"
    assert subject.count() == 2500
    hashes = {post["id"]: hashlib.sha256(post["content"].encode()).hexdigest()[:16] for post in posts}
    assert {row[0]: row[1] for row in subject.rows("posts")[1:]} == hashes
    found = subject.walk(word, 1000)
    assert found == sorted(posts, key=lambda post: (post["createdAt"], post["id"]), reverse=True)
    assert subject.search(word)["total"] == 2500


def test_a_bad_line_of_a_load_is_400_and_named(subject: Subject) -> None:
    before = subject.count()
    lines = "\n".join([json.dumps(made(1, "x")), json.dumps(made(2, " ")), json.dumps(made(3, "x"))])
    answer = subject.ask("POST", "load", content=lines, headers={"content-type": LINES_OF_JSON})
    assert_problem(answer, 400)
    assert "line 2: content " in answer.json()["detail"]
    assert subject.count() == before


def test_a_load_refuses_an_id_that_is_there(subject: Subject) -> None:
    post = made(1, "there")
    subject.loaded([post])
    answer = subject.load([post | {"content": "again"}])
    assert_problem(answer, 409)
    assert post["id"] in answer.json()["detail"]
    assert subject.found(post["id"])["content"] == "there"


def test_a_load_takes_at_most_10_000_different_posts_as_lines_of_json(subject: Subject) -> None:
    assert_problem(subject.ask("POST", "load", json=made(1, "x")), 415)
    assert subject.load([made(1, "x")] * 2).status_code == 400
    assert subject.load([made(number, "x") for number in range(10_001)]).status_code == 400


def test_the_store_says_how_much_room_its_posts_take(subject: Subject) -> None:
    subject.fence()
    sizes = subject.ask("GET", "sizes").json()
    assert set(sizes) == {"documents", "store_bytes", "search_index_bytes", "parts"}
    assert sizes["documents"] == subject.count()
    assert (sizes["search_index_bytes"] is None) == (subject.search_index == "none")
    assert sizes["parts"]
    assert all(isinstance(size, int) and size >= 0 for size in sizes["parts"].values())
    assert 0 < sum(sizes["parts"].values()) <= sizes["store_bytes"]
    assert (sizes["search_index_bytes"] or 0) < sizes["store_bytes"]
