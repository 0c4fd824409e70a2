"""The call in progress: whose it is, and the date it may not look past.

Tools never take an identity or a lock from their arguments; they ask here. The web layer (``app.py``) puts the grant of
the URL in place before a tool runs.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import UTC, date, datetime

from mcp_servers.access import Grant

UNLIMITED_CALLS = 1_000_000_000


class LookAhead(ValueError):
    """A tool was asked about a day after the simulation date."""


@dataclass
class Call:
    """One tool call, on its way.

    Attributes
    ----------
    grant
        Whose call it is.
    looked_ahead
        Set when the call asked for something after the simulation date.
    own_s
        Seconds that the agent took itself so far: its own code ran, or the call waited for other calls of the task.
    """

    grant: Grant
    looked_ahead: bool = False
    own_s: float = 0.0
    _own_since: float | None = None

    @contextmanager
    def taking_its_own_time(self) -> Iterator[None]:
        """Count the block as time that the agent takes itself."""
        self._own_since = time.perf_counter()
        try:
            yield
        finally:
            self.own_s, self._own_since = self.own_seconds(), None

    def own_seconds(self) -> float:
        """Return ``own_s`` up to now, with a block that goes on."""
        return self.own_s + (0.0 if self._own_since is None else time.perf_counter() - self._own_since)


_CALL: ContextVar[Call | None] = ContextVar("call", default=None)


def standalone_grant(as_of: date | None = None, *, seed: int = 0) -> Grant:
    """Return the grant of a server that runs alone, outside a benchmark run; ``as_of`` defaults to today (UTC)."""
    return Grant("standalone", "standalone", as_of or datetime.now(UTC).date(), seed, UNLIMITED_CALLS)


def current() -> Call:
    """Return the call in progress; outside any, a fresh one under the standalone grant of today."""
    return _CALL.get() or Call(standalone_grant())


@contextmanager
def acting_as(grant: Grant) -> Iterator[Call]:
    """Run the block as one call of ``grant``."""
    call = Call(grant)
    token = _CALL.set(call)
    try:
        yield call
    finally:
        _CALL.reset(token)


def as_of() -> date:
    """Return the simulation date of the caller."""
    return current().grant.as_of


def require_known(day: date, field: str) -> date:
    """Return ``day``, or record the attempt and raise :class:`LookAhead` when it lies after the simulation date."""
    call = current()
    if day > call.grant.as_of:
        call.looked_ahead = True
        raise LookAhead(
            f"{field}={day} is after the simulation date {call.grant.as_of}; nothing later is known. "
            f"Ask for {call.grant.as_of} or earlier. This attempt was recorded."
        )
    return day
