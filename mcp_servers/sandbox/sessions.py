"""What calls leave for later calls of the same task: bytes that are kept here and read by nobody but such calls."""

from __future__ import annotations

import threading
from collections import OrderedDict

import anyio

from mcp_servers.access import Owner
from mcp_servers.sandbox import limits


class TooManySessions(ValueError):
    """A task asked for more sessions than it may have."""


class Session:
    """One session of one task; its calls take turns.

    Attributes
    ----------
    state
        What the last call left; None before the first.
    dropped
        Whether a state was given up because the sessions of other tasks needed the room.
    """

    def __init__(self) -> None:
        self.state: bytes | None = None
        self.dropped = False
        self.turn = anyio.Lock()


class Sessions:
    """Sessions by task and name; no task can name another's."""

    def __init__(self, *, room_bytes: int = limits.SESSIONS_ROOM_BYTES) -> None:
        self._room_bytes = room_bytes
        self._lock = threading.Lock()
        self._sessions: OrderedDict[tuple[Owner, str], Session] = OrderedDict()

    def of(self, owner: Owner, name: str) -> Session:
        """Return a session of a task, a new one at first.

        Raises
        ------
        TooManySessions
            The task has its number of sessions.
        """
        with self._lock:
            if (owner, name) not in self._sessions:
                names = [other for task, other in self._sessions if task == owner]
                if len(names) >= limits.SESSIONS_PER_TASK:
                    raise TooManySessions(
                        f"session={name!r}: a task has {limits.SESSIONS_PER_TASK} sessions and this one has "
                        f"{', '.join(map(repr, names))}; use one of them"
                    )
                self._sessions[owner, name] = Session()
            self._sessions.move_to_end((owner, name))
            return self._sessions[owner, name]

    def keep(self, session: Session, state: bytes) -> None:
        """Keep what a call left; the states used longest ago make room for it, and their sessions know."""
        with self._lock:
            session.state, session.dropped = state, False
            held = sum(len(other.state or b"") for other in self._sessions.values())
            for other in self._sessions.values():
                if held <= self._room_bytes:
                    return
                if other is not session and other.state is not None:
                    held -= len(other.state)
                    other.state, other.dropped = None, True
