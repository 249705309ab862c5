#!/usr/bin/env bash
# The official suite's client scenarios against the agent: the suite plays the server, conformance_client.py the
# client, and the agent stands between them.
#   CLIENTS_DIR=DIR ./conformance_client.sh SPEC-VERSION AGENT      e.g. 2026-07-28 or 2025-11-25
# What can't apply to the agent, and why, is in conformance-client-VERSION.yml; an entry that passes after all
# fails the run too.
set -euo pipefail
usage="usage: conformance_client.sh SPEC-VERSION AGENT"
version=${1:?$usage} agent=$(realpath "${2:?$usage}")
source "$(dirname "${BASH_SOURCE[0]}")/suite.sh"

# The suite splits the command at spaces, which a path may have.
printf '#!/usr/bin/env bash\nexec python3 %q %q "$@"\n' "$here/conformance_client.py" "$agent" >"$scratch/client"
chmod +x "$scratch/client"
status=0
timeout 300 conformance client --command "$scratch/client" --suite all --spec-version "$version" \
    -o "$scratch/out" --expected-failures "$here/conformance-client-$version.yml" >"$scratch/log" 2>&1 || status=$?
# No summary means that nothing ran.
grep -q 'SUMMARY' "$scratch/log" || status=$((status ? status : 1))
sed -n '/SUMMARY/,$p' "$scratch/log" | grep -E '^(✗|Total)' || true
outcome "conformance-client-$version" "$status" "$scratch/log"
