"""The real Codex, with a scripted model: one session calls `remember`, a new one `search`.

    CLIENTS_DIR=DIR python3 codex.py --url URL --key KEY
    CLIENTS_DIR=DIR python3 codex.py --stdio PROGRAM [ARG...]

Proven by what the model was sent: the tools in the namespace `mcp__mmw`, and the results.
"""
import json
import os
import sys

import coding
import told
from scripted_responses import Responses
from story import check

CONFIG = """\
model = "scripted"
model_provider = "loop"
approval_policy = "never"
sandbox_mode = "danger-full-access"
check_for_update_on_startup = false

[analytics]
enabled = false

# Both look for things on the network at the start.
[features]
plugins = false
apps = false

[model_providers.loop]
name = "loop"
base_url = "{model}/v1"
env_key = "LOOP_KEY"
wire_api = "responses"
supports_websockets = false

[projects.{folder}]
trust_level = "trusted"

[mcp_servers.mmw]
# Else the script might play before the server is connected: a person types slower.
required = true
{server}
"""


def server(options, env):
    """Returns MMW's entry in the client's configuration; a JSON string or list is also one of TOML."""
    if not options.stdio:
        return f'url = {json.dumps(options.url)}\nbearer_token_env_var = "MMW_KEY"'
    mmw = ", ".join(f"{name} = {json.dumps(value)}" for name, value in env.items() if name.startswith("MMW_"))
    return f"command = {json.dumps(options.stdio[0])}\nargs = {json.dumps(options.stdio[1:])}\nenv = {{ {mmw} }}"


def make_ask(options, home, env):
    folder = os.path.join(home, "project")
    os.makedirs(folder)
    os.makedirs(os.path.join(home, ".codex"))

    def ask(tool, arguments):
        turn = [{"tool": tool, "namespace": "mcp__mmw", "input": arguments}]
        with Responses([turn, [{"text": "done"}]]) as model:
            with open(os.path.join(home, ".codex", "config.toml"), "w", encoding="utf-8") as file:
                file.write(CONFIG.format(model=model.url, folder=json.dumps(folder), server=server(options, env)))
            session = {"PATH": env["PATH"], "HOME": home, "LOOP_KEY": "dummy", "MMW_KEY": options.key or ""}
            command = told.npm("codex") + ["exec", "--skip-git-repo-check", f"please call {tool}"]
            coding.run_client(command, folder, session)
            return shown(model.requests, tool)

    return ask


def shown(requests, tool):
    """Returns the text of the one tool result in the requests, after checking the tools that were offered."""
    asked = [it["body"] for it in requests if "/responses" in it["path"]]
    check(asked, "the client asked the model", [it["path"] for it in requests])
    spaces = {it["name"]: it for it in asked[0]["tools"] if it.get("type") == "namespace"}
    check("mcp__mmw" in spaces, "the model is offered the namespace mcp__mmw", asked[0]["tools"])
    offered = [it["name"] for it in spaces["mcp__mmw"]["tools"]]
    check(tool in offered, f"the model is offered {tool}", offered)
    results = [it["output"] for it in asked[-1]["input"] if it.get("type") == "function_call_output"]
    check(len(results) == 1, "the model is sent one tool result", asked[-1]["input"][-1:])
    return results[0] if isinstance(results[0], str) else "\n".join(it.get("text", "") for it in results[0])


if __name__ == "__main__":
    sys.exit(coding.main(__doc__, "codex", make_ask))
