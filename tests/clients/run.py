"""Runs every client and suite of this folder against a server and an agent that are already there.

    python3 run.py DIR [--url URL --key KEY] [--conformance URL --conformance-key KEY] [--agent PROGRAM [ARG...]]

DIR is what `install.sh` filled; the URLs are the roots of servers. What needs something that is not given is left
out. `--conformance` is a server that was built with the official suite's fixtures.
`--only NAME` (repeatable) picks scripts. One line a script, the output of those that fail, and the count at the
end; exits 1 if one failed.
"""
import argparse
import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
SCRIPT_SECONDS = 420


def jobs(options):
    """Yields (name, command) in the order of their length."""
    npm = os.path.join(options.dir, "npm", "node_modules", ".bin")
    python, node = os.path.join(options.dir, "venv", "bin", "python"), os.path.join(npm, "node")
    story = [
        ("py_mcp", [python, "py_mcp.py"]), ("ts_v1", [node, "ts_v1.mjs"]), ("ts_v2", [node, "ts_v2.mjs"]),
        ("claude_code", [python, "claude_code.py"]), ("codex", [python, "codex.py"]),
        ("inspector", [python, "inspector.py"])]
    if options.url:
        http = ["--url", f"{options.url}/mcp", "--key", options.key]
        yield "mcp_remote", [python, "mcp_remote.py", *http]
        yield from ((f"{name}-http", [*command, *http]) for name, command in story)
        yield "probe-http", ["./probe.sh", "--url", f"{options.url}/mcp", options.key]
        yield "idprobe", [python, "idprobe.py", *http]
        yield "fuzz", [python, "fuzz.py", *http]
        yield "rest", ["./rest.sh", options.url, options.key]
    if options.agent:
        stdio = ["--stdio", *options.agent]
        yield "raw_rpc", [python, "raw_rpc.py", *stdio]
        yield "mcp_proxy", [python, "mcp_proxy.py", *stdio]
        yield "connect", [python, "connect.py", "--stdio", options.agent[0]]
        yield "stop_hook", [python, "stop_hook.py", *stdio]
        yield from ((f"{name}-stdio", [*command, *stdio]) for name, command in story)
        yield "probe-stdio", ["./probe.sh", *stdio]
        for version in ("2026-07-28", "2025-11-25"):
            yield f"conformance-client-{version}", ["./conformance_client.sh", version, options.agent[0]]
    if options.agent and options.url:
        # The agent in front of the server.
        relay = ["--stdio", "env", f"MMW_ENDPOINT={options.url}", f"MMW_API_KEY={options.key}", *options.agent]
        yield from ((f"{name}-relay", [*command, *relay]) for name, command in story)
        yield "mcp_proxy-relay", [python, "mcp_proxy.py", *relay]
    if options.conformance:
        for version in ("2026-07-28", "2025-11-25"):
            key = options.conformance_key or options.key
            yield f"conformance-{version}", ["./conformance.sh", f"{options.conformance}/mcp", key, version]


def run(name, command, env):
    """Runs one script; returns whether it passed."""
    began = time.monotonic()
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(
            command, cwd=HERE, env=env, stdin=subprocess.DEVNULL, stdout=output, stderr=output, start_new_session=True)
        try:
            passed = process.wait(SCRIPT_SECONDS) == 0
        except subprocess.TimeoutExpired:
            passed = False
            output.write(f"\nnot done after {SCRIPT_SECONDS} s\n".encode())
        finally:
            # Also what a failed script left behind.
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        output.seek(0)
        said = output.read().decode(errors="replace")
    print(f"{'ok  ' if passed else 'FAIL'} {name} ({time.monotonic() - began:.1f} s)", flush=True)
    if not passed:
        print("".join(f"     {line}\n" for line in said.splitlines()[-60:]), flush=True)
    return passed


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dir")
    parser.add_argument("--url")
    parser.add_argument("--key", default=os.environ.get("MMW_API_KEY", ""))
    parser.add_argument("--conformance")
    parser.add_argument("--conformance-key", help="default: that of --key")
    parser.add_argument("--only", action="append")
    parser.add_argument("--agent", nargs=argparse.REMAINDER)
    options = parser.parse_args()
    options.dir = os.path.abspath(options.dir)

    chosen = [(name, command) for name, command in jobs(options) if not options.only or name in options.only]
    if not chosen:
        parser.error("nothing to run: give --url, --conformance or --agent")
    env = {**os.environ, "CLIENTS_DIR": options.dir, "PYTHONDONTWRITEBYTECODE": "1"}
    results = [run(name, command, env) for name, command in chosen]
    print(f"{results.count(True)} passed, {results.count(False)} failed")
    return 1 if results.count(False) else 0


if __name__ == "__main__":
    sys.exit(main())
