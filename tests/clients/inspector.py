"""The official Inspector's command line in both eras: one process a request, as a person would use it.

    CLIENTS_DIR=DIR python3 inspector.py --url URL --key KEY [--mode legacy|modern]...
    CLIENTS_DIR=DIR python3 inspector.py [--mode ...] --stdio PROGRAM [ARG...]

`tools/list --strict` fails on any schema that some client is known to refuse; over HTTP a wrong
key must end in the Inspector's exit code for "authorization needed". The Inspector has no
completion, so the rest is the story in short.
"""
import json
import re
import secrets
import subprocess
import sys

import told
from story import CONTENT, HASH, SOURCE, TOOLS, check, scratch_env

MODES = ["legacy", "modern"]
CALL_SECONDS = 60
NEEDS_AUTHORIZATION = 3


def inspect(options, era, env, *arguments, key=None):
    """Runs the Inspector once and returns its finished process."""
    if options.stdio:
        target = ["--transport", "stdio"]
        # Only variables given by -e reach the server.
        for name, value in env.items():
            if name.startswith("MMW_"):
                target += ["-e", f"{name}={value}"]
        target = [*options.stdio, *target]
    else:
        target = [options.url, "--transport", "http", "--header", f"Authorization: Bearer {key or options.key}"]
    command = told.npm("mcp-inspector") + [
        "--cli", *target, "--protocol-era", era, "--format", "json", "-q", "--stored-auth-only", *arguments]
    return subprocess.run(
        command, env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=CALL_SECONDS)


def story(options, era, env, name):
    workspace = f"{name}-{secrets.token_hex(3)}"

    def result(*arguments):
        done = inspect(options, era, env, *arguments)
        check(done.returncode == 0, f"`{' '.join(arguments)}` exits 0", [done.returncode, done.stdout, done.stderr])
        return json.loads(done.stdout)["result"]

    def call(tool, **arguments):
        return result("--method", "tools/call", "--tool-name", tool, "--tool-args-json", json.dumps(arguments))

    tools = {tool["name"] for tool in result("--method", "tools/list", "--strict")["tools"]}
    check(TOOLS <= tools, f"the tools {sorted(TOOLS)} are listed", sorted(tools))

    saved = call("remember", content=CONTENT, fact_key=f"deploy-staging-{name}", workspace=workspace,
                 source_id=SOURCE, source_hash=HASH)["structuredContent"]
    check(saved.get("status") == "unverified" and saved.get("id"), "a new record is `unverified`", saved)
    found = call("search", query="how is staging deployed", workspace=workspace)["structuredContent"]
    check([hit["id"] for hit in found["hits"]] == [saved["id"]], "the record is found by its words", found)
    check(found["hits"][0]["content"] == CONTENT, "the hit has the content that was saved", found)

    bad = inspect(options, era, env, "--method", "tools/call", "--tool-name", "search", "--tool-args-json",
                  json.dumps({"query": "staging", "worksapce": workspace}))
    check("worksapce" in bad.stdout and re.search(r'"isError":\s*true', bad.stdout),
          "an unknown argument is a tool error that names it", [bad.returncode, bad.stdout, bad.stderr])

    record = result("--method", "resources/read", "--uri", f"mmw://record/{saved['id']}")
    check("`app-staging`" in json.dumps(record), "the record's resource has its content", record)
    prompts = [prompt["name"] for prompt in result("--method", "prompts/list")["prompts"]]
    check("recall" in prompts, "the prompt `recall` is listed", prompts)

    call("forget", memory_id=saved["id"])
    after = call("search", query="how is staging deployed", workspace=workspace)["structuredContent"]
    check(after["hits"] == [], "a forgotten record is not found", after)

    if not options.stdio:
        refused = inspect(options, era, env, "--method", "tools/list", key=options.key[:-1] + "?")
        check(refused.returncode == NEEDS_AUTHORIZATION, "a wrong key is asked to authorize",
              [refused.returncode, refused.stdout, refused.stderr])


def main():
    options = told.arguments(__doc__, choices=MODES)
    transport = "stdio" if options.stdio else "http"
    for era in options.mode or MODES:
        with scratch_env() as env:
            told.run(f"inspector-{transport}-{era}", lambda name: story(options, era, env, name))


if __name__ == "__main__":
    sys.exit(main())
