"""Requests made from the OpenAPI document are answered as it says, and leave nothing in the store that it forbids."""

from collections import Counter

import pytest

from contract.subject import Subject
from writepath.selfcheck import fuzzing

EXAMPLES = 60  # of each operation
SEED = 26


def test_no_generated_request_gets_an_answer_that_the_document_forbids(
    subject: Subject, capsys: pytest.CaptureFixture[str]
) -> None:
    url, inspector = subject.stack.base_url, subject.stack.inspector_urls(subject.variant.inspector)[0]
    found = fuzzing.fuzz(fuzzing.document(), url, examples=EXAMPLES, seed=SEED, queued=subject.queued)
    with capsys.disabled():
        print(f"\n{fuzzing.line(subject.variant.name, found)}")
    repeat = {one.what: one.request for one in found.findings}
    assert Counter(one.what for one in found.findings) == {}, repeat
    assert {phase for phase, cases in found.cases.items() if cases} == set(fuzzing.PHASES)
    assert {"POST 201", "POST 400", "GET 200", "GET 400", "GET 404"} <= found.statuses.keys()
    subject.fence()
    assert fuzzing.wrong_posts(url, inspector, found) == []
