#!/usr/bin/env bash
# Tests the HTTP contract of every variant through its proxy, on the runtime of RUNTIME (default auto); with docker, the
# tests of the containers run too.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
./bootstrap.sh
export WRITEPATH_TEST_RUNTIME="${RUNTIME:-auto}" WRITEPATH_TEST_VARIANTS="${VARIANTS:-all}"
exec ../.writepath/venv/bin/python -m pytest -q tests/contract tests/test_docker_runtime.py
