"""mcp-idprobe: does an answer ever reach another session that uses the same JSON-RPC ids?

    DIR/venv/bin/python idprobe.py --url URL --key KEY

The probe itself sends `{"text": secret}` to an echo tool, cannot send a key, and passes a server that
answers nothing. Here its calls become `remember`, with the secret as the content; several pairs of sessions
run at once; and every session must get its own secrets back, each exactly where it was asked for.
"""
import json
import secrets
import sys
from concurrent.futures import ThreadPoolExecutor

from mcp_idprobe import client, prober

import told
from story import check

PAIRS = 4
ROUNDS = 10


def probe(url, key):
    workspace = f"idprobe-{secrets.token_hex(3)}"

    class Keyed(client.StreamableHttpClient):
        def _headers(self):
            return {**super()._headers(), "Authorization": f"Bearer {key}"}

        def call_tool(self, name, arguments, req_id):
            return super().call_tool(name, {"content": arguments["text"], "workspace": workspace}, req_id)

    prober.StreamableHttpClient = Keyed
    prober.response_texts = lambda response: [json.dumps(response.get("result", {}))]
    with ThreadPoolExecutor(PAIRS) as pool:
        attempts = [
            pool.submit(prober.run_probe, url, rounds=ROUNDS, settle_time=0.2, timeout=5, tool_name="remember")
            for _ in range(PAIRS)]
        for attempt in attempts:
            found = attempt.result()
            check(not found["send_errors"], "every call is answered", found["send_errors"])
            check(found["verdict"] == "PASS", "no session gets another's answer", found)
            delivered = {it["secret"] for it in found["evidence"]["correctly_delivered"]}
            check(len(delivered) == 2 * ROUNDS and not found["evidence"]["missing_responses"],
                  "every session gets all its answers", found["evidence"])


def main():
    options = told.arguments(__doc__, stdio=False)
    told.run("idprobe", lambda _: probe(options.url, options.key))


if __name__ == "__main__":
    sys.exit(main())
