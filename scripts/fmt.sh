#!/usr/bin/env bash
# Rewrites Python and Java in the house format.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
./bootstrap.sh
../.writepath/venv/bin/ruff check --fix-only --quiet .
../.writepath/venv/bin/ruff format --quiet .
JAVA_HOME=$(../.writepath/venv/bin/python -c "from writepath.provision import jdk; print(jdk.find().home)") mvn -q -f ../services/pom.xml spotless:apply
