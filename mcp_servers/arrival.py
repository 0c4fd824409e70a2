"""How long a request has waited, also before it was read, and whether its sender still waits for the answer."""

from __future__ import annotations

import asyncio
import time

import anyio
from starlette.types import Message, Receive

BEAT_S = 0.25


class Pulse:
    """Measures how late an event loop is: what it reads late has waited in the socket, where no clock is.

    Needs a running loop and beats in it until the loop ends.
    """

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._late_s, self._beaten_at = 0.0, self._loop.time()
        self._due = self._beaten_at + BEAT_S
        self._loop.call_at(self._due, self._beat)

    def _beat(self) -> None:
        self._beaten_at = self._loop.time()
        self._late_s = max(0.0, self._beaten_at - self._due)
        self._due = self._beaten_at + BEAT_S
        self._loop.call_at(self._due, self._beat)

    def late_s(self) -> float:
        """Return how long a request that is read now may have waited, seconds: never less than it did."""
        now = self._loop.time()
        recent = self._late_s if now - self._beaten_at < BEAT_S else 0.0
        return max(recent, now - self._due, 0.0)


class Arrival:
    """One request on its way in; pass :meth:`receive` on to whoever reads the request.

    Time counts from the moment the whole body was there: what the sender takes to send is its own.
    """

    def __init__(self, receive: Receive, pulse: Pulse) -> None:
        self._receive = receive
        self._pulse = pulse
        self._since = time.perf_counter()
        self._complete = self._left = False

    async def receive(self) -> Message:
        """Return the next message of the request."""
        message = await self._receive()
        if message["type"] == "http.disconnect":
            self._left = True
        elif not self._complete and not message.get("more_body", False):
            self._complete = True
            self._since = time.perf_counter() - self._pulse.late_s()
        return message

    def seconds(self) -> float:
        """Return how long the request has been here."""
        return time.perf_counter() - self._since

    async def sender_left(self) -> bool:
        """Return whether the sender has closed the connection."""
        if not self._left:
            with anyio.CancelScope() as at_once:
                at_once.cancel()
                await self.receive()
        return self._left
