"""The harness's own way to the servers: health, call logs and the end of a task, on a listener of its own.

Agents are never told this address. It is served from a thread with its own event loop, so that nothing that happens on
the agents' ports makes the harness wait, and it still says so when their loop stands still.

``GET /health``
    ``boot`` (a new one each time the process starts: what began under another boot has lost its calls in progress),
    ``pid`` and ``node``, ``warm`` by server, and ``late_s``: for how long the agents' loop has stood still.
``POST /tell/NAME/TOKEN``, ``GET /log/NAME/TOKEN``, ``POST /close/NAME/TOKEN``
    What a server may show to a task alone (JSON), its calls there, and its end. All need the proof of
    :func:`access.harness_proof`.
"""

from __future__ import annotations

import asyncio
import os
import platform
import secrets
import socket
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass

import uvicorn
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from mcp_servers import access
from mcp_servers.call_log import CallLog
from mcp_servers.embedded import run_in_thread
from mcp_servers.handouts import Handouts

HARNESS_HEADER = b"x-traderbench-harness"
BEAT_S = 0.5


class Heartbeat:
    """Tells other threads how long an event loop has not come round; make it in the loop's own thread."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._at = time.monotonic()
        self._beat()

    def _beat(self) -> None:
        self._at = time.monotonic()
        self._loop.call_later(BEAT_S, self._beat)

    def late_s(self) -> float:
        """Return the seconds since the loop should have come round, 0 when it is in time."""
        return max(0.0, time.monotonic() - self._at - BEAT_S)


@dataclass(frozen=True)
class Watched:
    """A server as the channel sees it: its call log, whether it is warm, and what it shows to single tasks, if any."""

    log: CallLog
    is_warm: Callable[[], bool]
    handouts: Handouts | None = None


class HarnessChannel:
    """The ASGI application of the channel over the servers of one process.

    Attributes
    ----------
    boot
        Names this start of the process.
    """

    def __init__(self, servers: Mapping[str, Watched], key: bytes) -> None:
        self.boot = secrets.token_hex(8)
        self._servers, self._key = servers, key
        self._heartbeat: Heartbeat | None = None

    def watch_this_loop(self) -> None:
        """Measure the running event loop, the one that serves the agents."""
        self._heartbeat = Heartbeat()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one ASGI event stream."""
        if scope["type"] == "http":
            answer = await self._answer(scope, receive)
            await answer(scope, receive, send)

    async def _answer(self, scope: Scope, receive: Receive) -> ASGIApp:
        request = f"{scope['method']} {scope['path']}"
        if request == "GET /health":
            return JSONResponse(self._health())
        verb, _, rest = request.partition("/")[2].partition("/")
        name, _, token = rest.partition("/")
        method = {"log": "GET", "close": "POST", "tell": "POST"}.get(verb)
        if method is None or name not in self._servers:
            return JSONResponse({"error": f"no such path: {scope['path']}"}, status_code=404)
        proof = dict(scope["headers"]).get(HARNESS_HEADER, b"").decode("latin-1")
        if not access.is_harness(proof, token, self._key):
            return JSONResponse({"error": f"/{verb} is for the harness"}, status_code=403)
        if scope["method"] != method:
            return JSONResponse({"error": f"method {scope['method']} is not allowed"}, status_code=405)
        grant, log, handouts = access.verify(token, self._key), self._servers[name].log, self._servers[name].handouts
        if verb == "tell":
            if handouts is None:
                return JSONResponse({"error": f"the {name} server shows no documents"}, status_code=404)
            handouts.put(grant, await Request(scope, receive).json())
            return JSONResponse({"told": True})
        if verb == "close":
            log.close(grant)
            if handouts is not None:
                handouts.drop(grant)
            return JSONResponse({"closed": True})
        return JSONResponse({"calls": [asdict(record) for record in log.of(grant)]})

    def _health(self) -> dict[str, object]:
        late = self._heartbeat.late_s() if self._heartbeat else 0.0
        warm = {name: server.is_warm() for name, server in self._servers.items()}
        return {"boot": self.boot, "pid": os.getpid(), "node": platform.node(), "warm": warm, "late_s": late}

    def serve(self, listener: socket.socket) -> None:
        """Answer on ``listener`` from a thread of this process, until the process ends."""
        run_in_thread(uvicorn.Config(self, log_level="warning", access_log=False, lifespan="off"), listener)
