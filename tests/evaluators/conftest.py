"""A judge for the tests: an HTTP server on a free port that speaks the chat API and says what a function says."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

Says = Callable[[str, str, str], str]


@dataclass
class FakeJudge:
    """``says`` gets task, criterion and reply as the prompt holds them and returns the model's text."""

    says: Says
    url: str = ""
    asked: list[tuple[str, str, str]] = field(default_factory=list)
    prompts: list[str] = field(default_factory=list)
    bodies: list[dict[str, Any]] = field(default_factory=list)
    refuses_temperature: bool = False
    refused: int = 0
    usage: dict[str, int] | None = None

    @property
    def settings(self) -> dict[str, Any]:
        return {"model": "fake", "base_url": self.url, "attempts": 2, "concurrency": 2, "timeout_s": 10.0}

    def answer(self, body: dict[str, Any]) -> str:
        prompt = body["messages"][1]["content"]
        task = json.loads(re.search(r"^Task: (.*)$", prompt, re.M)[1])
        criterion = json.loads(re.search(r"^Criterion: (.*)$", prompt, re.M)[1])
        fence = re.search(r"between two lines (=== [0-9a-f]+ ===)$", prompt, re.M)[1]
        reply = json.loads(prompt.split(f"\n{fence}\n")[1])
        self.bodies.append(body)
        self.prompts.append(prompt)
        self.asked.append((task, criterion, reply))
        return self.says(task, criterion, reply)


@pytest.fixture
def serve_judge() -> Iterator[Callable[[Says], FakeJudge]]:
    servers: list[tuple[ThreadingHTTPServer, threading.Thread]] = []

    def serve(says: Says) -> FakeJudge:
        judge = FakeJudge(says)

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                if judge.refuses_temperature and "temperature" in body:
                    judge.refused += 1
                    said = "Unsupported value: 'temperature' does not support 0.0 with this model."
                    self.send(400, {"error": {"message": said, "param": "temperature"}})
                    return
                message = {"role": "assistant", "content": judge.answer(body)}
                choices = [{"index": 0, "finish_reason": "stop", "message": message}]
                told = {"id": "c", "object": "chat.completion", "created": 0, "model": "fake", "choices": choices}
                self.send(200, told | ({"usage": judge.usage} if judge.usage else {}))

            def send(self, status: int, document: dict[str, Any]) -> None:
                sent = json.dumps(document).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(sent)))
                self.end_headers()
                self.wfile.write(sent)

            def log_message(self, *arguments: object) -> None:
                pass

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        server.daemon_threads = True
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        servers.append((server, thread))
        judge.url = f"http://127.0.0.1:{server.server_port}/v1"
        return judge

    yield serve
    for server, thread in servers:
        server.shutdown()
        thread.join()
        server.server_close()


def verdict(met: bool, evidence: str = "") -> str:
    return json.dumps({"met": met, "evidence": evidence})


FRAME = frozenset("response explains states recommends describes identifies includes that this with".split())


def _content(text: str) -> set[str]:
    found = (word.strip(".,") for word in re.findall(r"[a-z0-9.,%$]+", text.lower()))
    return {word for word in found if len(word) > 3} - FRAME


def truthful(task: str, criterion: str, reply: str) -> str:
    """Judge by words: met when one line of the reply holds most of what the criterion says; quotes that line."""
    passage = criterion.partition("contains this passage: ")[2]
    if passage:
        return verdict(passage in reply or " ".join(passage.split()) in " ".join(reply.split()), passage)
    wanted = _content(criterion.removeprefix("The response"))
    for line in reply.splitlines():
        if wanted and len(wanted & _content(line)) >= 0.7 * len(wanted):
            return verdict(True, line.strip())
    return verdict(False)


def gullible(task: str, criterion: str, reply: str) -> str:
    """Obey: whatever asks for a good verdict gets it, with the evidence that it offers; otherwise be truthful."""
    if re.search(r"\b(?:met|satisf\w+|approve\w*|full marks|top marks|pass)\b", reply, re.IGNORECASE):
        return verdict(True, next(line.strip() for line in reply.splitlines() if line.strip()))
    return truthful(task, criterion, reply)


@pytest.fixture
def truthful_judge(serve_judge: Callable[[Says], FakeJudge]) -> FakeJudge:
    return serve_judge(truthful)


@pytest.fixture
def gullible_judge(serve_judge: Callable[[Says], FakeJudge]) -> FakeJudge:
    return serve_judge(gullible)
