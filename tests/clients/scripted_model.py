"""The Messages API of `scripted.py`: what Claude Code speaks.

Requests that carry tools play the script; those without (titles, topic checks) get "ok" and use up no turn.
"""
import json

from scripted import Scripted


class Messages(Scripted):
    def respond(self, http, request):
        if "count_tokens" in http.path:
            return http.reply({"input_tokens": 100})
        if "/messages" not in http.path:
            return http.reply({})
        number, turn = self.next_turn() if request.get("tools") else (-1, [{"text": "ok"}])
        blocks = [
            {"type": "tool_use", "id": f"toolu_{number:04d}{k:02d}", "name": it["tool"], "input": it["input"]}
            if "tool" in it else {"type": "text", "text": it["text"]}
            for k, it in enumerate(turn)]
        stop = "tool_use" if any(block["type"] == "tool_use" for block in blocks) else "end_turn"
        message = {
            "id": f"msg_{number:06d}", "type": "message", "role": "assistant", "model": request.get("model", "m"),
            "content": blocks, "stop_reason": stop, "stop_sequence": None,
            "usage": {"input_tokens": 10, "output_tokens": 10}}
        if request.get("stream"):
            return http.stream(events(message))
        return http.reply(message)


def events(message):
    yield "message_start", {"message": {**message, "content": [], "stop_reason": None}}
    for index, block in enumerate(message["content"]):
        if block["type"] == "text":
            start, delta = {"type": "text", "text": ""}, {"type": "text_delta", "text": block["text"]}
        else:
            start = {**block, "input": {}}
            delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
        yield "content_block_start", {"index": index, "content_block": start}
        yield "content_block_delta", {"index": index, "delta": delta}
        yield "content_block_stop", {"index": index}
    yield "message_delta", {
        "delta": {"stop_reason": message["stop_reason"], "stop_sequence": None}, "usage": {"output_tokens": 10}}
    yield "message_stop", {}
