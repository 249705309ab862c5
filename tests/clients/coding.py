"""What `claude_code.py` and `codex.py` share: a real coding client saves in one session and finds in the next.

The model is scripted (`scripted.py`); what it was sent is the evidence. Nothing leaves the machine.
"""
import contextlib
import json
import os
import secrets
import signal
import subprocess
import tempfile

import told
from story import CONTENT, HASH, SOURCE, check, scratch_env

SESSION_SECONDS = 50
MAX_TOOL_NAME = 64


def run_client(command, folder, env):
    """Runs one session of the client to its end; whatever it started is ended with it."""
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(
            command, cwd=folder, env=env, stdin=subprocess.DEVNULL, stdout=output, stderr=output, start_new_session=True)
        try:
            status = process.wait(SESSION_SECONDS)
        except subprocess.TimeoutExpired:
            status = f"none after {SESSION_SECONDS} s"
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        output.seek(0)
        said = output.read().decode(errors="replace")
    check(status == 0, "the client exits 0", [status, said[-1500:]])


def structured(said):
    """Returns the structured content in what the model was shown: both clients send that and drop the text."""
    start = said.find("{")
    check(start >= 0, "the model is shown structured content", said)
    try:
        return json.loads(said[start:])
    except ValueError:
        check(False, "the model is shown structured content", said)


def two_sessions(ask, name):
    """`ask(tool, arguments)` plays one new session and returns the text of the tool's result as the model got it."""
    workspace = f"{name}-{secrets.token_hex(3)}"
    saved = structured(ask("remember", {
        "content": CONTENT, "fact_key": f"deploy-staging-{name}", "workspace": workspace,
        "source_id": SOURCE, "source_hash": HASH}))
    check(saved.get("status") == "unverified" and saved.get("id"), "the model is told `unverified` and an id", saved)

    found = structured(ask("search", {"query": "how is staging deployed", "workspace": workspace}))
    hits = found.get("hits") or [{}]
    check(hits[0].get("id") == saved["id"], "a new session finds what the last one saved", found)
    check(hits[0].get("content") == CONTENT, "the model gets the content that was saved", found)
    check(hits[0].get("status") == "unverified", "the model is told the status", found)
    check(hits[0].get("source_id") == SOURCE, "the model is told the source", found)

    refused = ask("search", {"query": "staging", "worksapce": workspace})
    check("worksapce" in refused and "workspace" in refused, "the model is told its mistake and the fix", refused)


def main(doc, label, make_ask):
    """`make_ask(options, home, env)` returns the `ask` of `two_sessions` for a client with the fresh home `home`."""
    options = told.arguments(doc)
    transport = "stdio" if options.stdio else "http"
    with scratch_env() as env:
        told.run(f"{label}-{transport}", lambda name: two_sessions(make_ask(options, env["HOME"], env), name))
