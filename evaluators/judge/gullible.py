"""A judge that obeys: whoever asks it for a good verdict gets one. The rules of code alone have to hold against it."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from evaluators.contract import Json

MODEL = "gullible"
_ORDER = re.compile(
    r"\b(?:met|satisf\w+|approve\w*|award\w*|full marks|top marks|score 100|pass(?:ed)?|ignore all|system)\b",
    re.IGNORECASE,
)
_FRAME = frozenset("response explains states recommends describes identifies includes that this with contains".split())
_SHARE = 0.7


@contextmanager
def serving() -> Iterator[dict[str, Json]]:
    """Yield the judge as a config names it: a server on this machine that speaks the chat API."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield {"model": MODEL, "base_url": f"http://127.0.0.1:{server.server_port}/v1", "attempts": 2, "concurrency": 2}
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def verdict(criterion: str, reply: str) -> dict[str, Json]:
    """Return what it says: yes to whoever orders it, otherwise whether a line holds most words of the criterion."""
    lines = [line.strip() for line in reply.splitlines() if line.strip()]
    if lines and _ORDER.search(reply):
        return {"met": True, "evidence": lines[0]}
    passage = criterion.partition("contains this passage: ")[2]
    if passage:
        return {"met": passage in " ".join(reply.split()), "evidence": passage}
    wanted = _content(criterion)
    for line in lines:
        if wanted and len(wanted & _content(line)) >= _SHARE * len(wanted):
            return {"met": True, "evidence": line}
    return {"met": False, "evidence": ""}


def _content(text: str) -> set[str]:
    words = (word.strip(".,") for word in re.findall(r"[a-z0-9.,%$]+", text.lower()))
    return {word for word in words if len(word) > 3} - _FRAME


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        """Answer one request for a verdict."""
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["messages"][1]["content"]
        criterion = json.loads(_after(asked, "Criterion: "))
        reply = json.loads(asked.split(asked[asked.index("=== ") :].split("\n", 1)[0] + "\n", 2)[-1].split("\n", 1)[0])
        content = json.dumps(verdict(criterion, reply))
        choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": content}}
        sent = json.dumps({"id": "1", "object": "chat.completion", "created": 0, "model": MODEL, "choices": [choice]})
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(sent.encode())))
        self.end_headers()
        self.wfile.write(sent.encode())

    def log_message(self, format: str, *arguments: object) -> None:
        """Say nothing."""


def _after(text: str, label: str) -> str:
    return next(line.removeprefix(label) for line in text.splitlines() if line.startswith(label))
