#!/usr/bin/env bash
# contract-test.sh RUNTIME VARIANTS: tests the HTTP contract of these variants (or all) through their proxy; with docker,
# the tests of the containers run too. Use `make contract-test`.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
./bootstrap.sh
export WRITEPATH_TEST_RUNTIME="$1" WRITEPATH_TEST_VARIANTS="$2"
exec ../.writepath/venv/bin/python -m pytest -q tests/contract tests/test_docker_runtime.py
