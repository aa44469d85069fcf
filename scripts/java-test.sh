#!/usr/bin/env bash
# Format, compiler checks, architecture rules, unit and integration tests of the services, on real backing services:
# Testcontainers starts them with RUNTIME=docker, otherwise the native runtime does.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
./bootstrap.sh
exec ../.writepath/venv/bin/python -m writepath with-services -- \
  mvn -B -ntp -f ../services/pom.xml verify -Dsurefire.redirectTestOutput=true
