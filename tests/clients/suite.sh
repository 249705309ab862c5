# Sourced by the suites' runners: checks the surroundings, makes a scratch HOME, and can start the auth proxy.
: "${CLIENTS_DIR:?set CLIENTS_DIR to the DIR that install.sh filled}"
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
clients=$(cd "$CLIENTS_DIR" && pwd)
venv=$clients/venv/bin
PATH=$clients/npm/node_modules/.bin:$PATH
scratch=$(mktemp -d "${TMPDIR:-/tmp}/mmw-suite.XXXXXX")
export HOME=$scratch NO_COLOR=1
proxy_pid=
trap 'if [[ $proxy_pid ]]; then kill "$proxy_pid" 2>/dev/null || true; fi; rm -rf "$scratch"' EXIT

# behind_proxy URL KEY: starts the auth proxy and sets `proxied` to its URL.
behind_proxy() {
    coproc PROXY { exec node "$here/authproxy.mjs" "$1" "$2"; }
    proxy_pid=$PROXY_PID
    read -r -t 10 proxied <&"${PROXY[0]}" || { echo "FAIL: the auth proxy did not start" >&2; exit 1; }
}

# outcome NAME STATUS LOG: one line as the story's scripts print it; on failure the end of the log before it.
outcome() {
    if (($2)); then
        tail -n "${LOG_LINES:-60}" "$3"
        echo "FAIL $1: exit $2"
        exit 1
    fi
    echo "ok $1 ($SECONDS s)"
}
