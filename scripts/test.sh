#!/usr/bin/env bash
# test.sh RUNTIME: every check: lint, Java on real backing services, Python with each path's HTTP contract. Use `make test`.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
./lint.sh
python=../.writepath/venv/bin/python
"$python" -m writepath setup --runtime "$1" # before several processes need what it builds
export WRITEPATH_TEST_RUNTIME="$1"

tests=("$python" -m pytest -q --durations=6 -m)
said=$(mktemp)
other=
trap '[ -z "$other" ] || { kill "$other" 2>/dev/null || true; wait "$other" || true; cat "$said"; }; rm -f "$said"' EXIT

# beside MARKS COMMAND...: runs these Python tests and the command at once, because stacks mostly wait. What the tests say
# is shown when the command has ended. Fails where either does.
beside() {
  local code=0
  "${tests[@]}" "$1" >"$said" 2>&1 &
  other=$!
  "${@:2}" || code=$?
  wait "$other" || code=$?
  other=
  cat "$said"
  return "$code"
}

beside "not (native or docker or contract)" ./java-test.sh "$1"
beside contract "${tests[@]}" "native or docker"
