"""The official Python SDK (PyPI `mcp` 2.x) in its three modes, over HTTP or stdio.

    DIR/venv/bin/python py_mcp.py --url URL --key KEY [--mode auto|legacy|2026-07-28]...
    DIR/venv/bin/python py_mcp.py [--mode ...] --stdio PROGRAM [ARG...]

The SDK checks every structured answer against the tool's output schema.
"""
import asyncio
import sys

import httpx2
import mcp_types
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError

import told
from story import Refused, check, scratch_env, tell

MODES = ["auto", "legacy", "2026-07-28"]


class Sdk:
    """The story's verbs on an open `mcp.Client`."""

    def __init__(self, client):
        self.client = client

    @staticmethod
    async def wire(request):
        try:
            result = await request
        except MCPError as error:
            raise Refused(str(error)) from error
        return result.model_dump(by_alias=True, mode="json", exclude_none=True)

    async def tools(self):
        return await self.wire(self.client.list_tools())

    async def call(self, tool, arguments):
        return await self.wire(self.client.call_tool(tool, arguments))

    async def templates(self):
        return await self.wire(self.client.list_resource_templates())

    async def read(self, uri):
        return await self.wire(self.client.read_resource(uri))

    async def prompts(self):
        return await self.wire(self.client.list_prompts())

    async def complete(self, ref, argument, value):
        ref = mcp_types.ResourceTemplateReference(**ref)
        return await self.wire(self.client.complete(ref, {"name": argument, "value": value}))


async def over(target, mode, name):
    async with Client(target, mode=mode, read_timeout_seconds=30) as client:
        modern = client.protocol_version == "2026-07-28"
        # MMW serves both eras on one endpoint, so `auto` must land on the newer one.
        check(modern == (mode != "legacy"), f"mode {mode} negotiates the right era", client.protocol_version)
        await tell(Sdk(client), name)


async def over_http(url, key, mode, name):
    async with httpx2.AsyncClient(headers={"Authorization": f"Bearer {key}"}, timeout=30) as http:
        await over(streamable_http_client(url, http_client=http), mode, name)


async def over_stdio(command, mode, name):
    with scratch_env() as env:
        await over(StdioServerParameters(command=command[0], args=command[1:], env=env), mode, name)


def main():
    options = told.arguments(__doc__, choices=MODES)
    for mode in options.mode or MODES:
        if options.stdio:
            told.run(f"py-stdio-{mode}", lambda name: asyncio.run(over_stdio(options.stdio, mode, name)))
        else:
            told.run(f"py-http-{mode}", lambda name: asyncio.run(over_http(options.url, options.key, mode, name)))


if __name__ == "__main__":
    sys.exit(main())
