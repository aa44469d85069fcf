#!/usr/bin/env bash
# test.sh RUNTIME: every check: lint, Java on real backing services, Python with each path's HTTP contract. Use `make test`.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
./lint.sh
python=../.writepath/venv/bin/python
"$python" -m writepath setup --runtime "$1" # before several processes need what it builds
"$python" -c 'from writepath.provision import packages as p; p.ensure(print, [p.CHROMIUM])' # so do the tests of the site
export WRITEPATH_TEST_RUNTIME="$1"

declare -A pids=()
said=$(mktemp -d)
trap 'kill "${pids[@]}" 2>/dev/null || true; wait; cat "$said"/* 2>/dev/null || true; rm -rf "$said"' EXIT

# begin NAME COMMAND...: runs it beside what follows, because stacks mostly wait. end NAME: shows what it said; its exit code.
begin() {
  "${@:2}" >"$said/$1" 2>&1 &
  pids[$1]=$!
}
end() {
  local code=0
  wait "${pids[$1]}" || code=$?
  unset "pids[$1]"
  cat "$said/$1"
  rm "$said/$1"
  return "$code"
}

tests=("$python" -m pytest -q --durations=6)
suites=(tests/experiments tests/faults) # tests of real suite runs: half of the time of all real stacks
code=0
begin plain "${tests[@]}" -m "not (native or docker or contract)"
./java-test.sh "$1" || code=$? # it builds the jars anew, so no other stack runs meanwhile
begin suites "${tests[@]}" -m "native or docker" "${suites[@]}"
end plain || code=$?
begin stacks "${tests[@]}" -m "native or docker or contract" tests "${suites[@]/#/--ignore=}"
end stacks || code=$?
end suites || code=$?
exit "$code"
