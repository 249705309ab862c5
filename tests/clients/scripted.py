"""A stand-in for a model's service: plays a fixed list of turns to a real coding client, on loopback only.

The two dialects, `scripted_model.Messages` (Claude Code) and `scripted_responses.Responses` (Codex), say how a
turn is sent. A turn is a list of `{"text": ...}` or `{"tool": name, "input": {...}}`.
"""
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Scripted:
    """Serves `turns` while its `with` block is open; `requests` holds every body that was posted, with its path."""

    def __init__(self, turns):
        self.turns, self.played, self.requests = turns, 0, []
        self.lock = threading.Lock()
        handler = type("Handler", (Handler,), {"model": self})
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_port}"

    def __enter__(self):
        threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()

    def next_turn(self):
        """Returns the number of the next turn and the turn; past the end of the script the model is done."""
        with self.lock:
            number, self.played = self.played, self.played + 1
        return number, self.turns[number] if number < len(self.turns) else [{"text": "Done."}]

    def respond(self, http, request):
        """Answers one posted request (the dialect's)."""
        raise NotImplementedError


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_HEAD(self):
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def do_GET(self):
        self.reply({"data": [], "models": [], "has_more": False})

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        try:
            request = json.loads(body)
        except ValueError:
            request = {}
        with self.model.lock:
            self.model.requests.append({"path": self.path, "body": request})
        self.model.respond(self, request)

    def reply(self, answer):
        body = json.dumps(answer).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def stream(self, events):
        """Sends (event, data) pairs as server-sent events and closes the connection."""
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        for event, data in events:
            self.wfile.write(f"event: {event}\ndata: {json.dumps({'type': event, **data})}\n\n".encode())
            self.wfile.flush()
        self.close_connection = True
