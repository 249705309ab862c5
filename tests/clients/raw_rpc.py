"""Raw JSON-RPC lines to a stdio server, in both eras, with no SDK between.

    python3 raw_rpc.py [--mode legacy|modern]... --stdio PROGRAM [ARG...]

Also proves what no SDK reports: stdout carries nothing but JSON-RPC answers, one a line; the tools are
listed within a second of the start, which is all that Codex waits for (START_SECONDS allows more, on a slow
machine); and the program exits 0 soon after its stdin is closed. `mcp_remote.py` uses it for the bridge.
"""
import asyncio
import json
import os
import sys
import tempfile
import time

import told
from story import Refused, check, scratch_env, tell

MODES = ["legacy", "modern"]
ANSWER_SECONDS = 30
START_SECONDS = float(os.environ.get("START_SECONDS", "1"))
EXIT_SECONDS = 10
INFO = {"name": "mmw-raw", "version": "1"}
META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": INFO,
    "io.modelcontextprotocol/clientCapabilities": {},
}


class Raw:
    """The story's verbs over the pipes of a running program."""

    def __init__(self, process, era):
        self.process, self.era, self.last_id = process, era, 0

    async def send(self, message):
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        await self.process.stdin.drain()

    async def ask(self, method, **params):
        self.last_id += 1
        if self.era == "modern":
            params["_meta"] = META
        await self.send({"id": self.last_id, "method": method, "params": params})
        while True:
            try:
                line = await asyncio.wait_for(self.process.stdout.readline(), ANSWER_SECONDS)
            except TimeoutError:
                check(False, f"{method} is answered within {ANSWER_SECONDS} s")
            check(line, f"{method} is answered before the program ends")
            try:
                message = json.loads(line)
            except ValueError:
                check(False, "stdout carries only JSON lines", line.decode(errors="replace"))
            check(message.get("jsonrpc") == "2.0", "stdout carries only JSON-RPC", message)
            if "method" in message:
                check("id" not in message, "the server asks nothing of a client without capabilities", message)
                continue
            check(message["id"] == self.last_id, f"the answer is to request {self.last_id}", message)
            if "error" in message:
                raise Refused(json.dumps(message["error"]))
            return message["result"]

    async def open(self):
        if self.era == "modern":
            discovered = await self.ask("server/discover")
            versions = discovered["supportedVersions"]
            check("2026-07-28" in versions, "discover offers 2026-07-28", discovered)
        else:
            greeted = await self.ask("initialize", protocolVersion="2025-11-25", capabilities={}, clientInfo=INFO)
            check(greeted["protocolVersion"] == "2025-11-25", "initialize agrees on 2025-11-25", greeted)
            await self.send({"method": "notifications/initialized"})

    async def tools(self):
        return await self.ask("tools/list")

    async def call(self, tool, arguments):
        return await self.ask("tools/call", name=tool, arguments=arguments)

    async def templates(self):
        return await self.ask("resources/templates/list")

    async def read(self, uri):
        return await self.ask("resources/read", uri=uri)

    async def prompts(self):
        return await self.ask("prompts/list")

    async def complete(self, ref, argument, value):
        return await self.ask("completion/complete", ref=ref, argument={"name": argument, "value": value})


async def over(command, env, era, name, start_seconds=START_SECONDS):
    """Starts the command, tells the story over its pipes and ends it by closing its stdin."""
    began = time.monotonic()
    errors = tempfile.TemporaryFile()
    process = await asyncio.create_subprocess_exec(
        *command, env=env, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, stderr=errors,
        limit=1 << 24)
    try:
        raw = Raw(process, era)
        await raw.open()
        await raw.tools()
        took = time.monotonic() - began
        check(took < start_seconds, f"the tools are listed within {start_seconds} s of the start", took)
        await tell(raw, name)
        process.stdin.close()
        rest = await asyncio.wait_for(process.stdout.read(), EXIT_SECONDS)
        check(not rest.strip(), "nothing more is said after stdin is closed", rest.decode(errors="replace"))
        status = await asyncio.wait_for(process.wait(), EXIT_SECONDS)
        check(status == 0, "the program exits 0 when its stdin is closed", status)
    except BaseException:
        errors.seek(0)
        sys.stderr.write(errors.read().decode(errors="replace")[-3000:])
        raise
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


def main():
    options = told.arguments(__doc__, choices=MODES, url=False)
    for era in options.mode or MODES:
        with scratch_env() as env:
            told.run(f"raw-stdio-{era}", lambda name: asyncio.run(over(options.stdio, env, era, name)))


if __name__ == "__main__":
    sys.exit(main())
