"""The real Claude Code, with a scripted model: one session calls `remember`, a new one `search`.

    CLIENTS_DIR=DIR python3 claude_code.py --url URL --key KEY
    CLIENTS_DIR=DIR python3 claude_code.py --stdio PROGRAM [ARG...]

Proven by what the model was sent: the tools under the names `mcp__mmw__...`, and the results.
"""
import json
import os
import sys

import coding
import told
from scripted_model import Messages
from story import check


def server(options, env):
    """Returns MMW's entry in the client's configuration."""
    if not options.stdio:
        return {"type": "http", "url": options.url, "headers": {"Authorization": f"Bearer {options.key}"}}
    mmw = {name: value for name, value in env.items() if name.startswith("MMW_")}
    return {"command": options.stdio[0], "args": options.stdio[1:], "env": mmw}


def make_ask(options, home, env):
    folder = os.path.join(home, "project")
    os.makedirs(folder)
    with open(os.path.join(home, ".claude.json"), "w", encoding="utf-8") as file:
        json.dump({"projects": {folder: {"hasTrustDialogAccepted": True}}}, file)
    config = os.path.join(home, "mcp.json")
    with open(config, "w", encoding="utf-8") as file:
        json.dump({"mcpServers": {"mmw": server(options, env)}}, file)

    def ask(tool, arguments):
        name = f"mcp__mmw__{tool}"
        with Messages([[{"tool": name, "input": arguments}], [{"text": "done"}]]) as model:
            session = {
                "PATH": env["PATH"], "HOME": home,
                "ANTHROPIC_BASE_URL": model.url, "ANTHROPIC_API_KEY": "sk-dummy-loopback",
                "DISABLE_TELEMETRY": "1", "DISABLE_AUTOUPDATER": "1", "DISABLE_ERROR_REPORTING": "1",
                "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
                # Else the script might play before the server is connected: a person types slower.
                "MCP_CONNECTION_NONBLOCKING": "0"}
            command = told.npm("claude")[1:] + [
                "-p", f"please call {tool}", "--output-format", "json", "--allowedTools", name,
                "--strict-mcp-config", "--mcp-config", config]
            coding.run_client(command, folder, session)
            return shown(model.requests, name)

    return ask


def shown(requests, name):
    """Returns the text of the one tool result in the requests, after checking the tools that were offered."""
    asked = [it["body"] for it in requests if "/messages" in it["path"] and it["body"].get("tools")]
    check(asked, "the client asked the model", [it["path"] for it in requests])
    offered = [tool["name"] for tool in asked[0]["tools"]]
    check(name in offered, f"the model is offered {name}", offered)
    check(all(len(it) <= coding.MAX_TOOL_NAME for it in offered), "tool names fit the API's 64 characters", offered)
    results = [
        block for message in asked[-1]["messages"] if isinstance(message["content"], list)
        for block in message["content"] if block.get("type") == "tool_result"]
    check(len(results) == 1, "the model is sent one tool result", asked[-1]["messages"][-1:])
    content = results[0]["content"]
    return content if isinstance(content, str) else "\n".join(block.get("text", "") for block in content)


if __name__ == "__main__":
    sys.exit(coding.main(__doc__, "claude-code", make_ask))
