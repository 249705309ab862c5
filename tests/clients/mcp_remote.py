"""npm `mcp-remote`, the bridge that stdio-only clients use to reach an HTTP server, driven by raw JSON-RPC.

    CLIENTS_DIR=DIR python3 mcp_remote.py --url URL --key KEY [--mode legacy|modern]...
"""
import asyncio
import sys

import raw_rpc
import told
from story import scratch_env

START_SECONDS = 20.0  # the bridge's own start, not MMW's


def main():
    options = told.arguments(__doc__, choices=raw_rpc.MODES, stdio=False)
    command = told.npm("mcp-remote") + [
        options.url, "--header", f"Authorization: Bearer {options.key}", "--allow-http", "--transport", "http-only"]
    for era in options.mode or raw_rpc.MODES:
        with scratch_env() as env:
            told.run(f"remote-{era}", lambda name: asyncio.run(raw_rpc.over(command, env, era, name, START_SECONDS)))


if __name__ == "__main__":
    sys.exit(main())
