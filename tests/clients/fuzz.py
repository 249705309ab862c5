"""mcp-fuzzer: hostile and malformed requests to every tool and every method, with a fixed seed.

    DIR/venv/bin/python fuzz.py --url URL --key KEY

Fails on a crash, a hang, an answer that is no answer (the summary's `crashed`, `exceptions`, `anomaly`) or a
finding of a kind not named below. The fuzzer itself exits 0 whatever it found, and files a server that died
under no finding at all.
"""
import json
import os
import subprocess
import sys

import told
from story import TOOLS, check, scratch_env

# Not failures of a memory. The fuzzer calls any answer to an odd but valid input, such as an empty optional
# field, "accepted malformed"; and to give back what was saved, to the letter, is what a memory is for.
HARMLESS = {"accepted_malformed", "injection_reflection"}
FUZZ_SECONDS = 100


def fuzz(url, key):
    with scratch_env(MCP_API_KEY=key) as env:
        out = os.path.join(env["HOME"], "out")
        command = [
            os.path.join(os.path.dirname(sys.executable), "mcp-fuzzer"), "--auth-env", "--protocol", "streamablehttp",
            "--endpoint", url, "--mode", "all", "--phase", "both", "--protocol-phase", "aggressive",
            "--runs", "20", "--runs-per-type", "5", "--seed", "7", "--no-corpus",
            "--spec-schema-version", "2025-11-25", "--spec-resource-uri", "mmw://brief/default",
            "--output-dir", out, "--no-network", "--security-audit", "--auth-audit"]
        done = subprocess.run(
            command, env=env, cwd=env["HOME"], stdin=subprocess.DEVNULL, capture_output=True, text=True,
            timeout=FUZZ_SECONDS)
        check(done.returncode == 0, "the fuzzer runs", [done.returncode, done.stdout[-1500:], done.stderr[-1500:]])
        with open(os.path.join(out, "run_summary.json"), encoding="utf-8") as file:
            summary = json.load(file)
        with open(os.path.join(out, "findings.json"), encoding="utf-8") as file:
            findings = json.load(file)["findings"]

    tools = summary["tools"]["by_name"]
    check(TOOLS <= tools.keys(), "every tool was fuzzed", [sorted(tools), summary.get("blocked_reason")])
    for name, tool in tools.items():
        check(tool["total_runs"] > 0, f"{name} was called", tool)
        bad = {kind: tool["outcomes"][kind] for kind in ("crashed", "exceptions", "anomaly")}
        check(not any(bad.values()), f"{name} answers every call properly", bad)
    grave = [it for it in findings if it["category"] not in HARMLESS]
    check(not grave, "nothing grave is found", grave[:5])


def main():
    options = told.arguments(__doc__, stdio=False)
    told.run("fuzz", lambda _: fuzz(options.url, options.key))


if __name__ == "__main__":
    sys.exit(main())
