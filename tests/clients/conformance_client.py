"""What the official suite's client scenarios want, done through the agent: a stdio client with no SDK.

    python3 conformance_client.py AGENT URL

The suite starts a server at URL and this beside it; MCP_CONFORMANCE_SCENARIO names what it wants to see. This
starts the agent in front of that server and speaks to the agent's streams, so that the suite judges what the agent
sends over HTTP. What a client decides itself (which version to try next, what to answer to a question) is decided
here, what a transport decides is the agent's.
"""
import itertools
import json
import os
import subprocess
import sys
import tempfile

MODERN = "2026-07-28"
VERSION = os.environ.get("MCP_CONFORMANCE_PROTOCOL_VERSION", "2025-11-25")
SCENARIO = os.environ.get("MCP_CONFORMANCE_SCENARIO", "")
INFO = {"name": "mmw-conformance", "version": "1"}
CAPABILITIES = {"elicitation": {"form": {}}, "roots": {}, "sampling": {}}
PREFIX = "io.modelcontextprotocol/"
OWN_TOOL = "mmw_sync_status"


class Failed(Exception):
    """The server, or the agent for it, answered with an error."""


def defaults(schema):
    """Returns the value that fits a schema: its default, or the plainest there is."""
    if "default" in schema:
        return schema["default"]
    if schema.get("enum"):
        return schema["enum"][0]
    kind = schema.get("type")
    if kind == "object":
        wanted = schema.get("required", [])
        return {name: defaults(part) for name, part in schema.get("properties", {}).items() if name in wanted}
    return {"string": "x", "integer": 1, "number": 1, "boolean": True, "array": []}.get(kind)


def answer_to(question, params):
    """Returns what a person at this client says to a question of the server."""
    if question == "elicitation/create":
        properties = params.get("requestedSchema", {}).get("properties", {})
        return {"action": "accept", "content": {name: defaults(part) for name, part in properties.items()}}
    if question == "roots/list":
        return {"roots": []}
    return {"role": "assistant", "content": {"type": "text", "text": "ok"}, "model": "none"}


class Client:
    """A client on the agent's streams."""

    def __init__(self, process):
        self.process, self.ids, self.version = process, itertools.count(1), VERSION

    def send(self, message):
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        self.process.stdin.flush()

    def once(self, method, params):
        """Sends one request and returns its answer, answering what is asked meanwhile."""
        wanted = next(self.ids)
        if self.version == MODERN:
            meta = {"protocolVersion": self.version, "clientInfo": INFO, "clientCapabilities": CAPABILITIES}
            params = {**params, "_meta": {PREFIX + name: value for name, value in meta.items()}}
        self.send({"id": wanted, "method": method, "params": params})
        for line in self.process.stdout:
            message = json.loads(line)
            if "method" in message:
                if "id" in message:
                    self.send({"id": message["id"], "result": answer_to(message["method"], message.get("params", {}))})
            elif message["id"] == wanted:
                return message
        raise Failed("the agent ended")

    def ask(self, method, between=None, **params):
        """Sends a request until it has a result: with another version, or with the answers it wants.

        `between` is called before what was asked is answered.
        """
        for _ in range(8):
            answer = self.once(method, params)
            if "error" in answer:
                error = answer["error"]
                if error.get("code") == -32022 and VERSION in error["data"]["supported"]:
                    self.version = VERSION
                    continue
                raise Failed(json.dumps(error))
            result = answer["result"]
            if result.get("resultType") != "input_required":
                return result
            if between:
                between()
            questions = result.get("inputRequests", {})
            params = {name: value for name, value in params.items() if name not in ("inputResponses", "requestState")}
            params["inputResponses"] = {
                name: answer_to(question["method"], question.get("params", {}))
                for name, question in questions.items()}
            if "requestState" in result:
                params["requestState"] = result["requestState"]
        raise Failed(f"{method} never ended")

    def open(self):
        if VERSION == MODERN:
            self.ask("server/discover")
            return
        self.ask("initialize", protocolVersion=VERSION, capabilities=CAPABILITIES, clientInfo=INFO)
        self.send({"method": "notifications/initialized"})

    def tools(self):
        listed = self.ask("tools/list")["tools"]
        if OWN_TOOL not in [tool["name"] for tool in listed]:
            raise Failed("the agent adds its own tool")
        return {tool["name"]: tool for tool in listed if tool["name"] != OWN_TOOL}

    def call(self, name, arguments, **more):
        return self.ask("tools/call", name=name, arguments=arguments, **more)


def act(client):
    """Does what the scenario wants to see."""
    client.open()
    tools = client.tools()
    context = json.loads(os.environ.get("MCP_CONFORMANCE_CONTEXT") or "{}")
    if context.get("toolCalls"):
        for call in context["toolCalls"]:
            client.call(call["name"], call["arguments"])
    elif SCENARIO == "json-schema-2020-12-preservation":
        client.call("json_schema_echo", {"schema": tools["json_schema_2020_12_tool"]["inputSchema"]})
    elif SCENARIO == "sep-2322-client-request-state":
        def unrelated():
            client.call("test_mrtr_unrelated", {})
        client.call("test_mrtr_echo_state", {}, between=unrelated)
        client.call("test_mrtr_no_state", {})
        client.call("test_mrtr_no_result_type", {})
    else:
        for name, tool in tools.items():
            client.call(name, defaults(tool["inputSchema"]))
    if SCENARIO == "http-standard-headers":
        for resource in client.ask("resources/list")["resources"]:
            client.ask("resources/read", uri=resource["uri"])
        for prompt in client.ask("prompts/list")["prompts"]:
            client.ask("prompts/get", name=prompt["name"])


def main():
    agent, url = sys.argv[1:]
    with tempfile.TemporaryDirectory(prefix="mmw-conformance.") as home:
        env = {
            "PATH": os.environ["PATH"], "HOME": home, "MMW_AGENT_HOME": home, "MMW_ENDPOINT": url}
        process = subprocess.Popen(
            [agent], env=env, cwd=home, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=sys.stderr)
        try:
            act(Client(process))
            process.stdin.close()
            return process.wait(20)
        except Failed as failed:
            print(f"FAIL {SCENARIO}: {failed}", file=sys.stderr)
            return 1
        finally:
            process.kill()
            process.wait()


if __name__ == "__main__":
    sys.exit(main())
