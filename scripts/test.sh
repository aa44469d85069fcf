#!/usr/bin/env bash
# Every check: lint, Java on real backing services, Python with each path's HTTP contract.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
./lint.sh
./java-test.sh
export WRITEPATH_TEST_RUNTIME="${RUNTIME:-auto}"
exec ../.writepath/venv/bin/python -m pytest -q --durations=12
