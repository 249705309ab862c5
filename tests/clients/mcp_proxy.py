"""npm `mcp-proxy` in front of a stdio server, with the official Python SDK on its HTTP side.

    CLIENTS_DIR=DIR DIR/venv/bin/python mcp_proxy.py [--mode auto|legacy|2026-07-28]... --stdio PROGRAM [ARG...]

The proxy starts the program as often as it likes: several agents then share one home.
"""
import asyncio
import contextlib
import socket
import subprocess
import sys
import tempfile
import time

import py_mcp
import told
from story import scratch_env

START_SECONDS = 30


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@contextlib.contextmanager
def proxied(command):
    """Yields the URL of a proxy that runs the command; ends the proxy afterwards."""
    port = free_port()
    proxy = told.npm("mcp-proxy") + [
        "--port", str(port), "--host", "127.0.0.1", "--server", "stream", "--endpoint", "/mcp",
        "--upstreamProtocol", "auto", "--", *command]
    with scratch_env() as env, tempfile.TemporaryFile() as log:
        process = subprocess.Popen(proxy, env=env, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        try:
            deadline = time.monotonic() + START_SECONDS
            while True:
                if process.poll() is not None or time.monotonic() > deadline:
                    log.seek(0)
                    sys.exit("FAIL proxy: did not start\n" + log.read().decode(errors="replace")[-3000:])
                with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
                    break
                time.sleep(0.05)
            yield f"http://127.0.0.1:{port}/mcp"
        finally:
            process.terminate()
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def main():
    options = told.arguments(__doc__, choices=py_mcp.MODES, url=False)
    with proxied(options.stdio) as url:
        for mode in options.mode or py_mcp.MODES:
            told.run(f"proxy-{mode}", lambda name: asyncio.run(py_mcp.over_http(url, "unused", mode, name)))


if __name__ == "__main__":
    sys.exit(main())
