#!/usr/bin/env bash
# Does every variant keep the HTTP contract, through its proxy? On the runtime of RUNTIME, default auto; the containers' own tests come
# along where that is docker.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
./bootstrap.sh
export WRITEPATH_TEST_RUNTIME="${RUNTIME:-auto}" WRITEPATH_TEST_VARIANTS="${VARIANTS:-all}"
exec ../.writepath/venv/bin/python -m pytest -q tests/contract tests/test_docker_runtime.py
