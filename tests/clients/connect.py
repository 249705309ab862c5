"""`mmw-agent connect` for the real Claude Code and Codex: both find the server that it put into their settings.

    CLIENTS_DIR=DIR python3 connect.py --stdio PROGRAM

Proven by the clients' own lists, before, while and after the program is connected.
"""
import argparse
import os
import subprocess
import sys
import tempfile

import told
from story import check

# A list that starts every server takes the time of its start.
SECONDS = 90


def say(command, home, folder):
    """Returns what a command prints in a home of its own."""
    env = {
        "PATH": os.environ["PATH"], "HOME": home, "DISABLE_TELEMETRY": "1", "DISABLE_AUTOUPDATER": "1",
        "DISABLE_ERROR_REPORTING": "1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1"}
    done = subprocess.run(
        command, cwd=folder, env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=SECONDS,
        check=False)
    return done.returncode, done.stdout + done.stderr


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--stdio", required=True)
    program = os.path.abspath(parser.parse_args().stdio)
    claude, codex = told.npm("claude")[1:], told.npm("codex")[1:]
    with tempfile.TemporaryDirectory() as place:
        home, folder = os.path.join(place, "home"), os.path.join(place, "project")
        os.makedirs(home)
        os.makedirs(folder)

        def lists():
            return [say([*client, "mcp", "list"], home, folder)[1] for client in (claude, codex)]

        for text in lists():
            check("mmw" not in text, "a new home has no server of ours", text)
        code, text = say([program, "connect", "--client", "claude-code", "--client", "codex"], home, folder)
        check(code == 0, "connect is done", text)
        in_claude, in_codex = lists()
        check(f"mmw: {program}" in in_claude and "Connected" in in_claude, "Claude Code starts the server", in_claude)
        check("mmw" in in_codex and "enabled" in in_codex, "Codex has the server", in_codex)
        code, text = say([program, "disconnect"], home, folder)
        check(code == 0, "disconnect is done", text)
        for text in lists():
            check("mmw" not in text, "nothing of ours is left", text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
