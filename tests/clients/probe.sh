#!/usr/bin/env bash
# amagi-mcp-probe: every tool's schemas, a call with generated arguments, and its output against its own schema.
#   CLIENTS_DIR=DIR ./probe.sh --url URL KEY
#   CLIENTS_DIR=DIR ./probe.sh --stdio PROGRAM [ARG...]
# Warnings fail too, but for `tool-error`: a generated id is no one's, and a generated date may be refused.
set -euo pipefail
usage="usage: probe.sh --url URL KEY | --stdio PROGRAM [ARG...]"
source "$(dirname "${BASH_SOURCE[0]}")/suite.sh"

case ${1:?$usage} in
    --url) name=http target=(--url "${2:?$usage}" --header "Authorization: Bearer ${3:?$usage}") ;;
    --stdio) name=stdio target=(--env "MMW_AGENT_HOME=$scratch/mmw" --env "HOME=$scratch" -- "${@:2}") ;;
    *) echo "$usage" >&2; exit 2 ;;
esac
status=0
timeout 120 "$venv/amagi-mcp-probe" --strict --include-optional --allow-destructive --ignore tool-error --verbose \
    "${target[@]}" >"$scratch/log" 2>&1 || status=$?
# At least one tool was really called and answered.
grep -qE '[1-9][0-9]* passed' "$scratch/log" || status=$((status ? status : 1))
outcome "probe-$name" "$status" "$scratch/log"
