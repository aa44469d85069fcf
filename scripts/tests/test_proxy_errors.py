"""Causes in lines that nginx 1.22 wrote, and lines that are no failure."""

from writepath.analysis.proxy_errors import causes

CONTEXT = 'client: 127.0.0.1, server: , request: "POST /api/posts HTTP/1.1", upstream: "http://127.0.0.1:34561/api/posts"'
LOG = f"""\
nginx: [warn] 1024 worker_connections exceed open file resource limit: 128
2026/11/26 00:37:53 [warn] 11067#11067: 64 worker_connections are not enough, reusing connections
2026/11/26 00:37:53 [alert] 11067#11067: 64 worker_connections are not enough
2026/11/26 00:37:54 [alert] 11067#11067: *9 128 worker_connections are not enough while connecting to upstream, {CONTEXT}
2026/11/26 00:37:59 [crit] 11439#11439: accept4() failed (24: Too many open files)
2026/11/26 00:38:00 [alert] 11439#11439: *176 socket() failed (24: Too many open files) while connecting to upstream, {CONTEXT}
2026/11/26 00:38:01 [alert] 11439#11439: *177 socket() failed (24: Too many open files) while connecting to upstream, {CONTEXT}
2026/11/26 00:38:02 [crit] 1#1: *5 connect() failed (99: Cannot assign requested address) while connecting to upstream, {CONTEXT}
2026/11/26 00:38:03 [warn] 1#1: *6 a client request body is buffered to a temporary file /tmp/body/1, {CONTEXT}
2026/11/26 00:38:04 [notice] 1#1: signal 3 (SIGQUIT) received
"""  # noqa: E501 - as nginx writes them


def test_a_cause_has_no_numbers_and_no_context() -> None:
    assert causes(LOG) == {
        "worker_connections are not enough, reusing connections": 1,
        "worker_connections are not enough": 1,
        "worker_connections are not enough while connecting to upstream": 1,
        "accept4() failed: Too many open files": 1,
        "socket() failed: Too many open files while connecting to upstream": 2,
        "connect() failed: Cannot assign requested address while connecting to upstream": 1,
    }


def test_what_was_there_before_a_load_is_not_of_the_load() -> None:
    before = causes(LOG)
    assert causes(LOG + LOG) - before == before
    assert not causes(LOG) - before
