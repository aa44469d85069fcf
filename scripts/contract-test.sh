#!/usr/bin/env bash
# Does every variant keep the HTTP contract, through its proxy? On the runtime of RUNTIME, default auto.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
./bootstrap.sh
export WRITEPATH_TEST_RUNTIME="${RUNTIME:-auto}" WRITEPATH_TEST_VARIANTS="${VARIANTS:-}"
exec ../.writepath/venv/bin/python -m pytest -q tests/contract
