#!/usr/bin/env bash
# java-test.sh RUNTIME: format, compiler checks, architecture rules, unit and integration tests of the services, on real
# backing services: Testcontainers starts them with docker, otherwise the native runtime does. Use `make java-test`.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
./bootstrap.sh
exec ../.writepath/venv/bin/python -m writepath with-services --runtime "$1" -- \
  mvn -B -ntp -f ../services/pom.xml verify -Dmaven.test.redirectTestOutputToFile=true
