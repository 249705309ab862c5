#!/usr/bin/env bash
# The official conformance suite against a server that was built with the fixtures (feature `conformance`).
#   CLIENTS_DIR=DIR ./conformance.sh URL KEY SPEC-VERSION      e.g. 2026-07-28 or 2025-11-25
# What may fail at a version is in conformance-VERSION.yml; an entry that passes after all fails the run too.
set -euo pipefail
usage="usage: conformance.sh URL KEY SPEC-VERSION"
url=${1:?$usage} key=${2:?$usage} version=${3:?$usage}
source "$(dirname "${BASH_SOURCE[0]}")/suite.sh"

behind_proxy "$url" "$key"
baseline=()
if [[ -f $here/conformance-$version.yml ]]; then
    baseline=(--expected-failures "$here/conformance-$version.yml")
fi
status=0
timeout 300 conformance server --url "$proxied" --suite all --spec-version "$version" \
    -o "$scratch/out" "${baseline[@]}" >"$scratch/log" 2>&1 || status=$?
# No summary means that nothing ran.
sed -n '/^=== SUMMARY ===/,$p' "$scratch/log" | grep -E '^(✗|Total)' || status=$((status ? status : 1))
if ((status)); then
    # The summary counts; the reasons are in the results.
    grep -rhoE '"errorMessage": ?"[^"]{1,300}' "$scratch/out" | sort | uniq -c | sort -rn | head -n 40 || true
    sed -n '/xpected failures/,$p' "$scratch/log"
    LOG_LINES=0
fi
outcome "conformance-$version" "$status" "$scratch/log"
