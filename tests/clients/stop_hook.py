"""The Stop hook in the real Claude Code and the real Codex, with a scripted model.

    CLIENTS_DIR=DIR python3 stop_hook.py --stdio PROGRAM [ARG...]

PROGRAM is both the server and, with `hook-stop`, the hook; facts are anchored to files on the way. Proven by what the model was sent: a session that
changed a file is asked once, with that file and the tool's name, and its second end is let through; nothing is
asked in a session that changed nothing or saved after the change, nor again about the same change.
"""
import json
import os
import shlex
import subprocess
import sys

import claude_code
import codex
import coding
import told
from scripted_model import Messages
from scripted_responses import Responses
from story import check, scratch_env

MARKER = "[mmw-hook-stop]"
TOOL = "mcp__mmw__remember"
SEARCH = "mcp__mmw__search"
DONE = [{"text": "done"}]


def git(folder, *arguments):
    subprocess.run(
        ["git", "-c", "user.name=Ann", "-c", "user.email=ann@example.org", *arguments], cwd=folder, check=True,
        stdout=subprocess.DEVNULL)


class Client:
    """A client with a home, a repository and the hook; `play` runs one session, or goes on with the last."""

    def __init__(self, options, env):
        self.options, self.env = options, env
        self.home, self.folder = env["HOME"], os.path.join(env["HOME"], self.name)
        self.hook = {"hooks": {"Stop": [{"hooks": [{"type": "command", "command": shlex.join(
            [options.stdio[0], "hook-stop"])}]}]}}
        os.makedirs(os.path.join(self.folder, "docs"))
        git(self.folder, "init", "--quiet")
        self.write("docs/deploy.md", "# Deploy\n")
        self.configure()
        git(self.folder, "add", "--all")
        git(self.folder, "commit", "--quiet", "--message", "before")

    def write(self, path, content):
        path = os.path.join(self.folder, path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(content)

    def mmw(self):
        return {name: value for name, value in self.env.items() if name.startswith("MMW_")}


class ClaudeCode(Client):
    name = "claude-code"

    def configure(self):
        with open(os.path.join(self.home, ".claude.json"), "w", encoding="utf-8") as file:
            json.dump({"projects": {self.folder: {"hasTrustDialogAccepted": True}}}, file)
        self.config = os.path.join(self.home, "mcp.json")
        with open(self.config, "w", encoding="utf-8") as file:
            json.dump({"mcpServers": {"mmw": claude_code.server(self.options, self.env)}}, file)
        self.write(".claude/settings.json", json.dumps(self.hook))

    def shell(self, command):
        return {"tool": "Bash", "input": {"command": command}}

    def edit(self, path, content):
        """Returns the turns; a file that is there must be read before."""
        path = os.path.join(self.folder, path)
        read = [[{"tool": "Read", "input": {"file_path": path}}]] if os.path.exists(path) else []
        return read + [[{"tool": "Write", "input": {"file_path": path, "content": content}}]]

    def save(self, content, **more):
        return {"tool": TOOL, "input": {"content": content, **more}}

    def search(self, query):
        return {"tool": SEARCH, "input": {"query": query}}

    def play(self, turns, go_on=False):
        """Returns what each request to the model said last, as text."""
        with Messages(turns) as model:
            session = {
                "PATH": self.env["PATH"], "HOME": self.home, **self.mmw(),
                "ANTHROPIC_BASE_URL": model.url, "ANTHROPIC_API_KEY": "sk-dummy-loopback",
                "DISABLE_TELEMETRY": "1", "DISABLE_AUTOUPDATER": "1", "DISABLE_ERROR_REPORTING": "1",
                "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "MCP_CONNECTION_NONBLOCKING": "0"}
            command = told.npm("claude")[1:] + (["-c"] if go_on else []) + [
                "-p", "please go on", "--output-format", "json", "--allowedTools", f"Agent,Bash,Read,Write,{TOOL},{SEARCH}",
                "--strict-mcp-config", "--mcp-config", self.config]
            coding.run_client(command, self.folder, session)
            asked = [it["body"] for it in model.requests if "/messages" in it["path"] and it["body"].get("tools")]
            return [json.dumps(body["messages"][-1]["content"]) for body in asked]


class Codex(Client):
    name = "codex"

    def configure(self):
        os.makedirs(os.path.join(self.home, ".codex"))
        with open(os.path.join(self.home, ".codex", "hooks.json"), "w", encoding="utf-8") as file:
            json.dump(self.hook, file)

    def shell(self, command):
        return {"tool": "exec_command", "input": {"cmd": command}}

    def edit(self, path, content):
        full, new = os.path.join(self.folder, path), f"+{content.strip()}\n"
        if os.path.exists(full):
            with open(full, encoding="utf-8") as file:
                change = f"*** Update File: {path}\n@@\n-{file.read().strip()}\n{new}"
        else:
            change = f"*** Add File: {path}\n{new}"
        patch = f"*** Begin Patch\n{change}*** End Patch\n"
        return [[self.shell(f"apply_patch <<'EOF'\n{patch}EOF")]]

    def save(self, content, **more):
        return {"tool": "remember", "namespace": "mcp__mmw", "input": {"content": content, **more}}

    def search(self, query):
        return {"tool": "search", "namespace": "mcp__mmw", "input": {"query": query}}

    def play(self, turns, go_on=False):
        with Responses(turns) as model:
            config = codex.CONFIG.format(
                model=model.url, folder=json.dumps(self.folder), server=codex.server(self.options, self.env))
            config = config.replace("[features]\n", "[features]\nhooks = true\n")
            with open(os.path.join(self.home, ".codex", "config.toml"), "w", encoding="utf-8") as file:
                file.write(config)
            session = {"PATH": self.env["PATH"], "HOME": self.home, "LOOP_KEY": "dummy", **self.mmw()}
            command = told.npm("codex") + [
                "exec", "--dangerously-bypass-hook-trust", *(["resume", "--last"] if go_on else []), "please go on"]
            coding.run_client(command, self.folder, session)
            asked = [it["body"] for it in model.requests if "/responses" in it["path"]]
            return [json.dumps(body["input"][-1]) for body in asked]


def questions(said):
    return [text for text in said if MARKER in text]


def story(client):
    """Plays the sessions one after the other in one repository."""
    said = client.play([[client.shell("cat docs/deploy.md")], DONE])
    check(not questions(said) and len(said) == 2, "a session that changed nothing is not asked", said)

    edit = client.edit("docs/deploy.md", "# Deploy with app-staging\n")
    said = client.play([*edit, DONE, DONE])
    asked = questions(said)
    check(len(asked) == 1 and len(said) == len(edit) + 2, "a session that changed a file is asked once and then let go", said)
    check("docs/deploy.md" in asked[0] and TOOL in asked[0], "the file and the tool are named", asked)
    check("claude" not in asked[0] and "settings" not in asked[0], "no other file is named", asked)

    said = client.play([DONE, DONE], go_on=True)
    check(not questions(said) and len(said) == 1, "the same change is not asked about again", said)

    said = client.play([[client.shell("echo x > by-command")], DONE, [client.save("x is by command")], DONE, DONE],
                       go_on=True)
    asked = questions(said)
    check(len(asked) == 1 and "by-command" in asked[0], "another change in the same session is asked about", said)
    check("docs/deploy.md" not in asked[0], "only what changed since is named", asked)
    check(len(said) == 4, "a session that saved when it was asked is let go", said)

    said = client.play([*client.edit("saved.md", "saved\n"), [client.save("saved.md is saved")], DONE, DONE])
    check(not questions(said) and len(said) == 3, "a session that saved after the change is not asked", said)

    commit = "git add --all && git -c user.name=Ann -c user.email=a@b commit --quiet --message more"
    said = client.play([*client.edit("committed.md", "more\n"), [client.shell(commit)], DONE, DONE])
    asked = questions(said)
    check(len(asked) == 1 and "committed.md" in asked[0], "a file in a commit of the session is asked about", said)
    check("saved.md" not in asked[0].replace("committed.md", ""), "a commit brings no older change", asked)


def anchored(client):
    """A fact knows its file, and the session that changes the file is told and asked."""
    client.write("docs/run.md", "Staging runs under app-staging.\n")
    git(client.folder, "add", "--all")
    git(client.folder, "commit", "--quiet", "--message", "run")
    fact = client.save("staging runs under app-staging", fact_key="staging-run", source_id="docs/run.md#L1")
    said = client.play([[fact], DONE])
    check("sha256:" in said[1] and not questions(said), "the fact is saved with the hash of its file", said)

    edit = client.edit("docs/run.md", "Staging runs in docker.\n")
    search = [client.search("how does staging run")]
    said = client.play([search, *edit, search, DONE, DONE])
    check("unchanged" in said[1] and "stale" not in said[1], "before the change the fact is fresh", said[1])
    found = said[2 + len(edit)]
    check("stale" in found and "changed" in found and "docs/run.md" in found, "after it the fact is stale", found)
    asked = questions(said)
    check(len(asked) == 1 and "docs/run.md" in asked[0], "the session is asked once, with the file", asked)
    check(len(said) == len(edit) + 4, "its second end is let through", said)


def subagents(client):
    """What a subagent saved and changed is the session's."""
    def delegate(*turns):
        task = {"description": "look", "prompt": "look at it", "subagent_type": "general-purpose"}
        return [[{"tool": "Agent", "input": task}], *turns, [{"text": "the subagent is done"}]]

    said = client.play(
        [*client.edit("by-agent.md", "x\n"), *delegate([client.save("by-agent.md is there")]), DONE, DONE])
    check(not questions(said), "a session whose subagent saved after the change is not asked", said)

    said = client.play([*delegate(*client.edit("by-subagent.md", "x\n")), DONE, DONE])
    asked = questions(said)
    check(len(asked) == 1 and "by-subagent.md" in asked[0], "what a subagent changed is asked about", said)


def main():
    options = told.arguments(__doc__, url=False)
    for kind in (ClaudeCode, Codex):
        with scratch_env() as env:
            client = kind(options, env)
            told.run(f"stop-hook-{kind.name}", lambda _: story(client))
            told.run(f"stop-hook-{kind.name}-anchored", lambda _: anchored(client))
            if kind is ClaudeCode:
                told.run(f"stop-hook-{kind.name}-subagents", lambda _: subagents(client))


if __name__ == "__main__":
    sys.exit(main())
