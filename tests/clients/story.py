"""The story that every Python-driven client acts out against MMW, and the check it is told with.

A client is any object with the seven coroutines that `tell` uses: `tools`, `call`,
`templates`, `read`, `prompts` and `complete` answer with the wire form of the result (a dict),
or raise `Refused` when the server answered with a JSON-RPC error. `story.mjs` is the twin.
"""
import json
import os
import secrets
import shutil
import tempfile
from contextlib import contextmanager

CONTENT = "staging is deployed with the systemd unit `app-staging`"
# No file of the computer that the test runs on: the agent would look at it and find it gone.
SOURCE = "wiki:deploy"
HASH = "sha256:" + "5a" * 32
OTHER_HASH = "sha256:" + "c3" * 32
TOOLS = {"remember", "search", "forget", "validate_memory", "explain_memory"}


class Mismatch(Exception):
    """The server did something else than the story says."""


class Refused(Exception):
    """The server answered with a JSON-RPC error."""


def check(holds, claim, seen=None):
    """Raises `Mismatch` with the claim, and with what was seen instead, unless it holds."""
    if not holds:
        shown = "" if seen is None else ": got " + json.dumps(seen, default=str)[:1500]
        raise Mismatch(claim + shown)


def text(result):
    """Returns what a model would read of a tool result."""
    return "\n".join(block.get("text", "") for block in result.get("content", []))


async def answer(client, tool, **arguments):
    """Calls a tool that must succeed and returns its structured content."""
    result = await client.call(tool, arguments)
    check(not result.get("isError"), f"{tool} succeeds", result)
    check(isinstance(result.get("structuredContent"), dict), f"{tool} answers with structuredContent", result)
    check(text(result).strip(), f"{tool} answers with text for the model", result)
    return result["structuredContent"], text(result)


async def refusal(client, tool, names, **arguments):
    """Calls a tool that must answer with a tool error which names each of `names`."""
    result = await client.call(tool, arguments)
    check(result.get("isError") is True, f"{tool} {arguments} is a tool error", result)
    said = text(result) + json.dumps(result.get("structuredContent", {}))
    for name in names:
        check(name in said, f"the error of {tool} {arguments} names `{name}`", result)


async def must_refuse(attempt, claim):
    """Awaits a request that must end in a JSON-RPC error."""
    try:
        result = await attempt
    except Refused:
        return
    check(False, claim, result)


async def tell(client, name):
    """Acts out the story in the workspace `name`; raises `Mismatch` at the first thing that is not so."""
    # Two runs against one server do not meet: the workspace and so the fact are new each time.
    workspace = f"{name}-{secrets.token_hex(3)}"

    tools = {tool["name"]: tool for tool in (await client.tools())["tools"]}
    check(TOOLS <= tools.keys(), f"the tools {sorted(TOOLS)} are listed", sorted(tools))
    for tool in TOOLS:
        check(tools[tool].get("outputSchema"), f"{tool} has an output schema", tools[tool])
        check(tools[tool].get("annotations"), f"{tool} has annotations", tools[tool])

    saved, _ = await answer(
        client, "remember", content=CONTENT, fact_key=f"deploy-staging-{name}", workspace=workspace,
        source_id=SOURCE, source_hash=HASH)
    check(saved.get("status") == "unverified", "a new record is `unverified`", saved)
    check(saved.get("id"), "a new record has an id", saved)
    id = saved["id"]

    found, read = await answer(client, "search", query="how is staging deployed", workspace=workspace)
    check(found.get("hits"), "the record is found by its words", found)
    hit = found["hits"][0]
    check(hit.get("id") == id, f"the first hit is {id}", found)
    check(hit.get("content") == CONTENT, "the first hit has the content that was saved", hit)
    check(hit.get("source_id") == SOURCE, "the first hit names its source", hit)
    for part in ("`app-staging`", SOURCE, "unverified"):
        check(part in read, f"the text of the hit says {part}", read)

    elsewhere, _ = await answer(client, "search", query="how is staging deployed", workspace=f"{workspace}-empty")
    check(elsewhere.get("hits") == [], "another workspace has no hit", elsewhere)

    await refusal(client, "search", ["limit"], query="staging", limit=0)
    await refusal(client, "search", ["worksapce", "workspace"], query="staging", worksapce=workspace)

    explained, _ = await answer(client, "explain_memory", memory_id=id)
    check(id in json.dumps(explained), "the receipt of the record names its id", explained)

    fresh, _ = await answer(
        client, "validate_memory", source_id=SOURCE, current_source_hash=HASH, workspace=workspace)
    check(fresh.get("checked") == 1 and fresh.get("stale") == [], "the source as it was is fresh", fresh)
    stale, _ = await answer(
        client, "validate_memory", source_id=SOURCE, current_source_hash=OTHER_HASH, workspace=workspace)
    check(id in json.dumps(stale.get("stale")), "the source as it is now makes the record stale", stale)

    templates = [it["uriTemplate"] for it in (await client.templates())["resourceTemplates"]]
    check("mmw://record/{id}" in templates, "records are readable resources", templates)
    contents = (await client.read(f"mmw://record/{id}"))["contents"]
    check("`app-staging`" in json.dumps(contents), "the record's resource has its content", contents)
    absent = "mmw://record/00000000-0000-7000-8000-000000000000"
    await must_refuse(client.read(absent), "reading an absent record is an error")

    prompts = [prompt["name"] for prompt in (await client.prompts())["prompts"]]
    check("recall" in prompts, "the prompt `recall` is listed", prompts)
    ref = {"type": "ref/resource", "uri": "mmw://brief/{workspace}"}
    values = (await client.complete(ref, "workspace", workspace[:-2]))["completion"]["values"]
    check(workspace in values, f"`workspace` completes to {workspace}", values)

    receipt, _ = await answer(client, "forget", memory_id=id)
    check(receipt.get("forgotten") == 1, "the receipt counts one record", receipt)
    after, _ = await answer(client, "search", query="how is staging deployed", workspace=workspace)
    check(all(hit["id"] != id for hit in after["hits"]), "a forgotten record is not found", after)


@contextmanager
def scratch_env(**more):
    """Yields an environment with a fresh HOME and MMW_AGENT_HOME, and the caller's PATH and other MMW_ settings."""
    home = tempfile.mkdtemp(prefix="mmw-client-")
    kept = {key: value for key, value in os.environ.items() if key.startswith("MMW_") or key in ("PATH", "LANG", "TMPDIR")}
    try:
        yield {"MMW_AGENT_HOME": os.path.join(home, "mmw"), **kept, "HOME": home, "NO_COLOR": "1", **more}
    finally:
        shutil.rmtree(home, ignore_errors=True)
