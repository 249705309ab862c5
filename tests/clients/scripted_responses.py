"""The Responses API of `scripted.py`: what Codex speaks. A tool of an MCP server also has `namespace`: `mcp__<server>`."""
import json

from scripted import Scripted


class Responses(Scripted):
    def respond(self, http, request):
        if "/responses" not in http.path:
            return http.reply({})
        number, turn = self.next_turn()
        return http.stream(events(number, turn))


def events(number, turn):
    response = {"id": f"resp_{number}"}
    yield "response.created", {"response": response}
    for k, it in enumerate(turn):
        if "tool" in it:
            item = {
                "type": "function_call", "id": f"fc_{number}_{k}", "call_id": f"call_{number}_{k}",
                "name": it["tool"], "arguments": json.dumps(it["input"]),
                **({"namespace": it["namespace"]} if "namespace" in it else {})}
        else:
            item = {
                "type": "message", "id": f"m_{number}_{k}", "role": "assistant",
                "content": [{"type": "output_text", "text": it["text"]}]}
        yield "response.output_item.done", {"output_index": k, "item": item}
    usage = {
        "input_tokens": 1, "output_tokens": 1, "total_tokens": 2,
        "input_tokens_details": None, "output_tokens_details": None}
    yield "response.completed", {"response": {**response, "usage": usage}}
