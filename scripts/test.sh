#!/usr/bin/env bash
# test.sh RUNTIME: every check: lint, Java on real backing services, Python with each path's HTTP contract. Use `make test`.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
./lint.sh
./java-test.sh "$1"
export WRITEPATH_TEST_RUNTIME="$1"

# Tests that start stacks mostly wait, one after the other; the other tests need CPU. Run in parallel, both take little
# more than half the time. The output of the others is shown when the stack tests have ended.
python=../.writepath/venv/bin/python
stacks="native or docker or contract"
said=$(mktemp)
"$python" -m pytest -q --durations=6 -m "not ($stacks)" >"$said" 2>&1 &
others=$!
trap 'kill "$others" 2>/dev/null || true; wait "$others" || true; cat "$said"; rm -f "$said"' EXIT
code=0
"$python" -m pytest -q --durations=6 -m "$stacks" || code=$?
wait "$others" || code=$?
exit "$code"
