#!/usr/bin/env bash
# Checks format, types and the rules of STYLE.md. Java is linted by its compiler, in `make java-test`.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
./bootstrap.sh
bin="$PWD/../.writepath/venv/bin"

"$bin/ruff" format --check .
"$bin/ruff" check .
"$bin/mypy"
PYTHONPATH=src "$bin/lint-imports"
"$bin/python" -m pytest -q tests/style

cd ..
mapfile -t texts < <(git ls-files -- '*.md' '*.py' '*.sh' '*.yaml' '*.yml' Makefile '*.js' ':!:site/dist' ':!:results/published' ':!:docs/results')
"$bin/codespell" --toml scripts/pyproject.toml "${texts[@]}"
"$bin/shellcheck" scripts/*.sh scripts/wp .ci/run
"$bin/yamllint" --strict -c .yamllint.yaml ./*.yaml ./*.yml services/*/src/main/resources/{contract,reads}/*.yaml
"$bin/check-jsonschema" --check-metaschema schemas/*.json
"$bin/check-jsonschema" --schemafile schemas/variants.schema.json variants.yaml
"$bin/check-jsonschema" --schemafile schemas/suites.schema.json suites.yaml

command -v go >/dev/null || { echo "lint: go not found; k6's recorder needs Go 1.25 or newer" >&2; exit 10; }
(
  cd k6/recorder
  unformatted=$(gofmt -l .)
  [ -z "$unformatted" ] || { echo "lint: gofmt -w these in k6/recorder: $unformatted" >&2; exit 1; }
  CGO_ENABLED=0 go vet -trimpath ./... # with the flags of the build, so that what it compiled is used again
)

command -v npm >/dev/null || { echo "lint: npm not found; the linters of the load scripts and of the site need Node.js 20.19 or newer" >&2; exit 10; }
for folder in k6 site; do
  (
    cd "$folder"
    # npm writes its own copy of the lock file last: newer than ours means that the install is current and whole.
    [ node_modules/.package-lock.json -nt package-lock.json ] || npm ci --silent
    npm run --silent lint
  )
done

cd site
built=$(mktemp -d)
trap 'rm -rf "$built"' EXIT
npm run --silent build -- "$built"
diff -rq "$built" dist || { echo "lint: site/dist is not what site/src gives; run npm run build in site/" >&2; exit 1; }
