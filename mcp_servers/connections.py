"""Connections that keep a server waiting: each has a deadline, and only so many wait at a time.

The web server by itself waits for ever: for the end of the headers, for the rest of a body, for somebody to read the
answer. Here a connection waits for a request (``unfinished`` once it is opened or a first byte is there, ``idle``
between two requests), works on one, or waits for its reader.
"""

from __future__ import annotations

import asyncio
from collections.abc import Hashable
from typing import Any, Literal, TypeAlias, cast
from weakref import WeakKeyDictionary

import h11
from uvicorn import Config
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.server import ServerState

REQUEST_DEADLINE_S = 20.0
"""From the first byte of a request, or the opening of the connection, to the last byte."""

READER_DEADLINE_S = 30.0
"""How long an answer may wait for its reader."""

UNFINISHED_PER_ADDRESS = 256
UNFINISHED = 1024
IDLE = 512
"""How many connections may wait on one server. One more ends the one that has waited longest: an honest request is
whole within milliseconds, so that one is almost never honest."""

Stage: TypeAlias = Literal["unfinished", "idle"]


class Lines:
    """The connections of one server that wait, in lines; the one that has waited longest stands first."""

    def __init__(self) -> None:
        self._lines: dict[Hashable, dict[GuardedProtocol, None]] = {}

    def join(self, connection: GuardedProtocol, key: Hashable, limit: int) -> None:
        """Put a connection at the end of a line; the first one of a line over its limit is ended."""
        line = self._lines.setdefault(key, {})
        line[connection] = None
        if len(line) > limit:
            next(iter(line)).end()

    def leave(self, connection: GuardedProtocol, key: Hashable) -> None:
        """Take a connection out of a line."""
        line = self._lines.get(key, {})
        line.pop(connection, None)
        if not line:
            self._lines.pop(key, None)


_LINES: WeakKeyDictionary[ServerState, Lines] = WeakKeyDictionary()


class GuardedProtocol(H11Protocol):
    """The web server's side of one connection, under the deadlines and limits of this module."""

    def __init__(
        self,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        super().__init__(config, server_state, app_state, _loop)
        self._lines = _LINES.setdefault(server_state, Lines())
        self._stage: Stage | None = None
        self._has_served = False
        self._request_timer: asyncio.TimerHandle | None = None
        self._reader_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """See :class:`asyncio.Protocol`."""
        super().connection_made(cast(asyncio.Transport, transport))
        self._enter("unfinished")

    def connection_lost(self, exc: Exception | None) -> None:
        """See :class:`asyncio.Protocol`."""
        self._enter(None)
        self._stop_waiting_for_reader()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """See :class:`asyncio.Protocol`."""
        super().data_received(data)
        self._enter(self._present_stage())

    def on_response_complete(self) -> None:
        """Wait for the next request; it may have begun."""
        self._has_served = True
        super().on_response_complete()
        self._enter(self._present_stage())

    def pause_writing(self) -> None:
        """Begin to wait for the reader of an answer."""
        super().pause_writing()
        self._reader_timer = self.loop.call_later(READER_DEADLINE_S, self.end)

    def resume_writing(self) -> None:
        """Go on: the answer is being read."""
        super().resume_writing()
        self._stop_waiting_for_reader()

    def end(self) -> None:
        """Break the connection off."""
        self._enter(None)
        self.transport.abort()

    def _present_stage(self) -> Stage | None:
        if self.transport.is_closing() or self.conn.their_state not in (h11.IDLE, h11.SEND_BODY):
            return None
        between = self._has_served and self.conn.their_state is h11.IDLE and not self.conn.trailing_data[0]
        return "idle" if between else "unfinished"

    def _enter(self, stage: Stage | None) -> None:
        """Note what the connection waits for; the deadline counts from the moment in which that changes."""
        if stage == self._stage:
            return
        for key, _ in self._places(self._stage):
            self._lines.leave(self, key)
        if self._request_timer is not None:
            self._request_timer.cancel()
            self._request_timer = None
        self._stage = stage
        if stage is not None:
            self._request_timer = self.loop.call_later(REQUEST_DEADLINE_S, self.end)
        for key, limit in self._places(stage):
            self._lines.join(self, key, limit)

    def _places(self, stage: Stage | None) -> tuple[tuple[Hashable, int], ...]:
        """Return the lines in which a connection of this stage stands, with their limits."""
        if stage == "unfinished":
            address = self.client[0] if self.client else ""
            return ((stage, address), UNFINISHED_PER_ADDRESS), (stage, UNFINISHED)
        return ((stage, IDLE),) if stage == "idle" else ()

    def _stop_waiting_for_reader(self) -> None:
        if self._reader_timer is not None:
            self._reader_timer.cancel()
            self._reader_timer = None
