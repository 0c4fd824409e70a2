"""A whole run in this process, with an agent of the test at its other end and a hand on what happens meanwhile."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import threading
from collections.abc import Callable, Mapping, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Self

import pytest

from engine.config import parse
from engine.run import services
from engine.run.batch import start_run
from engine.run.tool_access import ToolAccess

Say = Callable[[dict[str, Any]], str]


class Purple(ThreadingHTTPServer):
    """An A2A agent that answers each message, read as JSON, with what ``say`` returns."""

    daemon_threads = True

    def __init__(self, say: Say) -> None:
        super().__init__(("127.0.0.1", 0), _Exchange)
        self.say = say
        self.url = f"http://127.0.0.1:{self.server_port}"
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def __exit__(self, *_: object) -> None:
        self.shutdown()
        self.server_close()

    def __enter__(self) -> Self:
        return self


class _Exchange(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Purple

    def log_message(self, *_: object) -> None:
        pass

    def do_GET(self) -> None:
        interface = {"url": f"{self.server.url}/", "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}
        self._send({"name": "test", "supportedInterfaces": [interface], "capabilities": {"streaming": False}})

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        message = request["params"]["message"]
        said = self.server.say(json.loads(message["parts"][0]["text"]))
        task = {
            "id": f"t-{message['messageId']}",
            "contextId": message.get("contextId") or "c",
            "status": {"state": "TASK_STATE_COMPLETED"},
            "artifacts": [{"artifactId": "a", "parts": [{"text": said}]}],
        }
        self._send({"jsonrpc": "2.0", "id": request["id"], "result": {"task": task}})

    def _send(self, value: Any) -> None:
        body = json.dumps(value).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


class Meanwhile:
    """The display of a run, used to do something at its stages and after its ``number``-th task."""

    def __init__(self, *, at_stage: Callable[[str], None] | None = None, after: Mapping[int, Callable[[], None]] = {}):
        self._at_stage, self._after, self.done = at_stage, after, 0

    def start(self, total: int, finished: Sequence[Mapping[str, Any]]) -> None:
        pass

    def stage(self, text: str) -> None:
        if self._at_stage:
            self._at_stage(text)

    def advance(self, record: dict[str, Any]) -> None:
        self.done += 1
        if act := self._after.get(self.done):
            act()

    def stop(self) -> None:
        pass


def run(
    out: Path,
    agent: str,
    datasets: list[dict[str, Any]],
    meanwhile: Meanwhile | None = None,
    *,
    servers: tuple[ToolAccess, str] | None = None,
    **options: Any,
) -> Any:
    """Play a run and return its summary.

    With ``servers`` it takes those that are up instead of starting six; ``options`` are top-level keys of the config.
    """
    execution = {"backend": "serial", "ports": "auto", "concurrency": 2}
    raw = {"name": "attacked", "datasets": datasets, "execution": execution} | options
    with pytest.MonkeyPatch.context() as patch:
        if servers is not None:
            patch.setattr(services, "tool_servers", lambda *_: contextlib.nullcontext(servers))
        return start_run(parse(raw, source="test"), agent=agent, out=out, progress=meanwhile or Meanwhile())


def signal_light_servers(number: signal.Signals) -> None:
    """Send a signal to the process of this run's light servers (all but the sandbox)."""
    for pid in _children_of(os.getpid()):
        if b"mcp_servers.process" in _command(pid) and not _sandbox_below(pid):
            os.kill(pid, number)


def _children_of(pid: int) -> list[int]:
    return [
        child
        for task in Path(f"/proc/{pid}/task").iterdir()
        for child in map(int, (task / "children").read_text().split())
    ]


def _command(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


def _sandbox_below(pid: int) -> bool:
    return any(b"sandbox" in _command(child) for child in _children_of(pid))
