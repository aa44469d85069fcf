#!/usr/bin/env bash
# Creates .writepath/venv from requirements.lock with the newest Python >= 3.11 found. Does nothing if it is up to date.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
state="$root/.writepath"
venv="$state/venv"
lock="$root/scripts/requirements.lock"

# The venv's scripts hold absolute paths, so a moved checkout needs a new one: the stamp is the place and the lock.
stamp() { echo "$root"; cat "$lock" "${BASH_SOURCE[0]}"; }
current() { [ -x "$venv/bin/python" ] && stamp | cmp -s - "$venv/stamp"; }
fail() { printf 'writepath: %s\n' "$@" >&2; exit 10; }

newest_python() {
  local candidate
  for candidate in python3.{20..11} python3 /usr/bin/python3; do  # a pyenv shim may exist and yet not run
    if "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
      command -v "$candidate"
      return
    fi
  done
  fail "no Python >= 3.11 found (python3 is $(python3 --version 2>&1 || echo missing))." \
    "Install one, for example: apt-get install python3 python3-venv"
}

# Debian ships venv apart from Python; ensurepip is the part that is missing then.
require_venv() {
  local python=$1 package
  "$python" -c 'import venv, ensurepip' 2>/dev/null && return
  package=$("$python" -c 'import sys; print("python%d.%d-venv" % sys.version_info[:2])')
  local install="apt-get install -y --no-install-recommends $package"
  if command -v apt-get >/dev/null && [ "$(id -u)" = 0 ]; then
    echo "writepath: installing $package"
    DEBIAN_FRONTEND=noninteractive $install >/dev/null 2>&1 ||
      { apt-get update -q >/dev/null 2>&1 && DEBIAN_FRONTEND=noninteractive $install >/dev/null 2>&1; } || true
  fi
  "$python" -c 'import venv, ensurepip' 2>/dev/null ||
    fail "$python has no venv module, which the project's own Python environment needs." "Install it: sudo $install"
}

make_venv() {
  local python log="$state/bootstrap.log"
  python=$(newest_python)
  require_venv "$python"
  echo "writepath: installing the Python packages of scripts/requirements.lock ($("$python" --version))"
  rm -rf "$venv"
  "$python" -m venv "$venv"
  "$venv/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes -r "$lock" \
    >"$log" 2>&1 || { tail -5 "$log" >&2; fail "pip could not install scripts/requirements.lock; full log: $log"; }
  # A .pth file is an editable install without a build backend to download.
  echo "$root/scripts/src" >"$("$venv/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/writepath.pth"
  stamp >"$venv/stamp"
}

current && exit 0
mkdir -p "$state"
exec 9>"$state/bootstrap.lock"
command -v flock >/dev/null && flock 9  # two commands at once: the second waits, then finds it done
current || make_venv
