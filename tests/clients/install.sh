#!/usr/bin/env bash
# Puts the pinned clients and suites into DIR: DIR/npm (with a node 22 of its own) and DIR/venv.
# Safe to repeat: a half whose pin file has not changed since it was installed is skipped.
# Needs python3 (3.11 or newer, with venv), node (20 or newer) and npm. About 1.2 GB, most of it Codex and Claude Code.
set -euo pipefail

usage="usage: tests/clients/install.sh DIR"
dir=${1:?$usage}
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
mkdir -p "$dir"
dir=$(cd "$dir" && pwd)

say() { echo "install: $*"; }
fail() { echo "install: $*" >&2; exit 1; }
for program in python3 node npm; do
    command -v "$program" >/dev/null || fail "$program is not on PATH (node 20+, npm and python3 are needed)"
done
python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))' || fail "python3 must be 3.11 or newer"

# Two test runs may want the same DIR at once: the second waits and then finds it up to date.
exec 9>"$dir/.lock"
if command -v flock >/dev/null; then flock 9; fi

# half NAME PIN-FILE FUNCTION: runs FUNCTION in an empty DIR/NAME unless its stamp matches the pins.
# FUNCTION runs where `set -e` does not reach (before `||`), so its steps are chained by `&&`.
half() {
    local name=$1 pins=$2 run=$3 stamp want began
    stamp=$dir/$name/.pins
    want=$(cat "$pins" "${BASH_SOURCE[0]}" | sha256sum | cut -d' ' -f1)
    if [[ -f $stamp && $(<"$stamp") == "$want" ]]; then
        say "$name: up to date"
        return
    fi
    say "$name: installing $(basename "$pins") ..."
    began=$SECONDS
    rm -rf "${dir:?}/$name"
    mkdir -p "$dir/$name"
    "$run" "$pins" >"$dir/$name.log" 2>&1 || {
        tail -n 20 "$dir/$name.log" >&2
        fail "$name: could not install; is the package registry reachable from here? Whole log: $dir/$name.log"
    }
    echo "$want" >"$stamp"
    say "$name: done in $((SECONDS - began)) s, $(du -sh "$dir/$name" | cut -f1)"
}

npm_half() {
    local bin=$dir/npm/node_modules/.bin
    # These three come by an install script or an optional package, and are absent where those are switched off.
    cp "$1" "$dir/npm/package.json" &&
        (cd "$dir/npm" && npm install --no-package-lock --no-audit --no-fund --loglevel=warn \
            --fetch-retries=2 --fetch-retry-mintimeout=1000 --fetch-retry-maxtimeout=5000) &&
        "$bin/node" --version && "$bin/claude" --version && "$bin/codex" --version
}

venv_half() {
    python3 -m venv "$dir/venv" &&
        "$dir/venv/bin/python" -m pip install --disable-pip-version-check --retries 2 --requirement "$1"
}

half npm "$here/package.json" npm_half
half venv "$here/requirements.txt" venv_half
