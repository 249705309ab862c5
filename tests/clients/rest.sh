#!/usr/bin/env bash
# schemathesis: generated and deliberately wrong requests to every operation of the REST surface, fixed seed.
#   CLIENTS_DIR=DIR ./rest.sh URL KEY [EXAMPLES]      URL is the server's root; its OpenAPI is read from there
# All its checks but one: `positive_data_acceptance` would have every request that fits the schema succeed, and
# rules such as "one of memory_id and source_id" are told by the error, not by the schema.
set -euo pipefail
usage="usage: rest.sh URL KEY [EXAMPLES]"
url=${1:?$usage} key=${2:?$usage} examples=${3:-40}
source "$(dirname "${BASH_SOURCE[0]}")/suite.sh"

status=0
cd "$scratch"
timeout 300 "$venv/st" run "$url/api/v1/openapi.json" --url "$url" -H "Authorization: Bearer $key" \
    --checks all --exclude-checks positive_data_acceptance --max-examples "$examples" --seed 1 \
    --request-timeout 10 --warnings off >log 2>&1 || status=$?
grep -E '^ *(Operations|Selected|Tested|Test cases|Seed)|generated' log || true
LOG_LINES=200 outcome rest "$status" log
