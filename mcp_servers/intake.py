"""Whole requests only: mcp sees a request once its body is there, within a size and a deadline.

A body that breaks off in the middle is an exception to mcp, with all that follows; here it is nothing.
"""

from __future__ import annotations

import asyncio
from collections import Counter

from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from mcp_servers.access import Grant, Owner
from mcp_servers.sandbox.json_value import values_at_most

GRANT = "traderbench.grant"
BODY_LIMIT_BYTES = 4 * 1024 * 1024
BODY_LIMIT_VALUES = 300_000
"""JSON values in a body: a list of empty lists takes 200 times its bytes, and a second to read."""

BODY_DEADLINE_S = 10.0
SMALL_BODY_BYTES = 64 * 1024
LARGE_BODIES_ON_THEIR_WAY = 32
"""One more ends the one that has been on its way longest, so that bodies that never end fill no memory."""

REQUESTS_PER_TASK = 256
BYTES_PER_TASK = 32 * 1024 * 1024
"""What one task may have in progress on one server; calls wait for their turn, so this is no limit on their speed."""


class Refusal(Exception):
    """A request is not taken: the HTTP status, and one line that says why."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason)
        self.status = status


class SenderLeft(Exception):
    """The connection ended before the body did."""


class Intake:
    """ASGI middleware: reads the whole body, then hands the request on."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app
        self._large: dict[asyncio.Timeout, None] = {}
        self._requests: Counter[Owner] = Counter()
        self._bytes: Counter[Owner] = Counter()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one ASGI event stream."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        grant: Grant = scope[GRANT]
        owner = grant.owner
        self._requests[owner] += 1
        size = 0
        try:
            self._require_room(owner)
            body = await self._whole_body(scope, receive)
            size = len(body)
            self._bytes[owner] += size
            self._require_room(owner)
            await self.app(scope, _replay(body, receive), send)
        except Refusal as refusal:
            await _answer(refusal)(scope, receive, send)
        except SenderLeft:
            return
        finally:
            _give_back(self._requests, owner, 1)
            _give_back(self._bytes, owner, size)

    def _require_room(self, owner: Owner) -> None:
        if self._requests[owner] > REQUESTS_PER_TASK:
            raise Refusal(429, f"this task has {REQUESTS_PER_TASK} requests in progress here; wait for their answers")
        if self._bytes[owner] > BYTES_PER_TASK:
            raise Refusal(
                429, f"the requests of this task in progress here have over {BYTES_PER_TASK} bytes; wait for answers"
            )

    async def _whole_body(self, scope: Scope, receive: Receive) -> bytes:
        _require_size(int(dict(scope["headers"]).get(b"content-length", b"0")))
        body = bytearray()
        try:
            async with asyncio.timeout(BODY_DEADLINE_S) as deadline:
                try:
                    while await _take(receive, body):
                        _require_size(len(body))
                        self._count_if_large(deadline, len(body))
                finally:
                    self._large.pop(deadline, None)
        except TimeoutError as error:
            raise Refusal(408, f"the body did not come to its end; {len(body)} bytes of it are here") from error
        _require_size(len(body))
        whole = bytes(body)
        if len(whole) > SMALL_BODY_BYTES and (count := values_at_most(whole)) > BODY_LIMIT_VALUES:
            raise Refusal(413, f"the body has about {count} JSON values; at most {BODY_LIMIT_VALUES} are taken")
        return whole

    def _count_if_large(self, deadline: asyncio.Timeout, size: int) -> None:
        if size <= SMALL_BODY_BYTES:
            return
        self._large[deadline] = None
        if len(self._large) > LARGE_BODIES_ON_THEIR_WAY:
            oldest = next(iter(self._large))
            del self._large[oldest]
            oldest.reschedule(0.0)


def _require_size(size: int) -> None:
    if size > BODY_LIMIT_BYTES:
        raise Refusal(413, f"the body has {size} bytes or more; at most {BODY_LIMIT_BYTES} are taken")


async def _take(receive: Receive, body: bytearray) -> bool:
    """Add the next part to the body; return whether more will come."""
    message = await receive()
    if message["type"] == "http.disconnect":
        raise SenderLeft
    body += message.get("body", b"")
    return bool(message.get("more_body", False))


def _replay(body: bytes, receive: Receive) -> Receive:
    """Return what gives the body as one message, and then what ``receive`` gives."""
    waiting: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def next_message() -> Message:
        return waiting.pop() if waiting else await receive()

    return next_message


def _answer(refusal: Refusal) -> JSONResponse:
    # The rest of a body in time is read and dropped; one that is late has no end to wait for.
    headers = {"Connection": "close"} if refusal.status == 408 else None
    return JSONResponse({"error": str(refusal)}, status_code=refusal.status, headers=headers)


def _give_back(counter: Counter[Owner], owner: Owner, amount: int) -> None:
    counter[owner] -= amount
    if not counter[owner]:
        del counter[owner]
