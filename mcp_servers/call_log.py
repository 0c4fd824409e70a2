"""What each task asked of a server: counted against its limit, kept for the harness."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from mcp_servers.access import Grant, Owner
from mcp_servers.journal import Journal

ARGUMENT_TEXT_LIMIT = 400


@dataclass(frozen=True)
class CallRecord:
    """One tool call.

    Attributes
    ----------
    number
        1, 2, ... within the task on this server.
    server, tool
        Names.
    arguments
        JSON text of the arguments, cut to 400 characters.
    arguments_sha256
        Digest of the whole text.
    ok
        False when the tool refused or failed.
    error
        The message that the agent saw, or None.
    lookahead
        The call asked about a day after the simulation date.
    milliseconds
        From the arrival of the whole request to the answer, with all waiting for the server.
    agent_milliseconds
        How much of it the agent took itself: the run time of its own code, and waiting for its own other calls.
    given_up
        The agent's side closed the connection, or ended the task, before the answer.
    """

    number: int
    server: str
    tool: str
    arguments: str
    arguments_sha256: str
    ok: bool
    error: str | None
    lookahead: bool
    milliseconds: float
    agent_milliseconds: float = 0.0
    given_up: bool = False


def describe_arguments(arguments: Any) -> tuple[str, str]:
    """Return the shortened JSON text of ``arguments`` and the digest of the whole text."""
    text = json.dumps(arguments, sort_keys=True, default=str)
    short = text if len(text) <= ARGUMENT_TEXT_LIMIT else text[: ARGUMENT_TEXT_LIMIT - 1] + "…"
    return short, hashlib.sha256(text.encode()).hexdigest()


class CallLog:
    """Call records by task; safe for threads. With a ``path`` it survives a restart of its process.

    Parameters
    ----------
    path
        JSON-lines file that every record is appended to before the agent gets its answer, and read back from at start.
    """

    def __init__(self, path: Path | None = None) -> None:
        self._lock = threading.Lock()
        self._started: dict[Owner, int] = {}
        self._records: dict[Owner, list[CallRecord]] = {}
        self._running: dict[Owner, dict[int, Callable[[], CallRecord]]] = {}
        self._closed: set[Owner] = set()
        self._journal = Journal(path)
        for entry in self._journal.entries():
            self._restore(entry)

    @property
    def broken(self) -> str | None:
        """Why the file is written no more, or None."""
        return self._journal.broken

    def _restore(self, entry: dict[str, Any]) -> None:
        owner = (entry.pop("run_id"), entry.pop("task_id"))
        if "closed" in entry:
            self._closed.add(owner)
            return
        record = CallRecord(**entry)
        self._records.setdefault(owner, []).append(record)
        self._started[owner] = max(self._started.get(owner, 0), record.number)

    def start(self, grant: Grant) -> int:
        """Count a call and return its number; it is over the limit when the number exceeds ``grant.max_tool_calls``."""
        owner = grant.owner
        with self._lock:
            self._started[owner] = self._started.get(owner, 0) + 1
            return self._started[owner]

    def run(self, grant: Grant, number: int, so_far: Callable[[], CallRecord]) -> None:
        """Note that a call is being worked on: until it is finished, the log holds what ``so_far`` returns."""
        if number <= grant.max_tool_calls + 1:
            with self._lock:
                self._running.setdefault(grant.owner, {})[number] = so_far

    def finish(self, grant: Grant, record: CallRecord) -> None:
        """Keep the record of a call; of those over the limit only the first, so that a flood fills no memory."""
        if record.number > grant.max_tool_calls + 1:
            return
        with self._lock:
            self._running.get(grant.owner, {}).pop(record.number, None)
            self._records.setdefault(grant.owner, []).append(record)
            self._journal.append({"run_id": grant.run_id, "task_id": grant.task_id} | asdict(record))

    def close(self, grant: Grant) -> None:
        """Take no more calls of the grant's task: a token must not serve an agent in a later task."""
        with self._lock:
            self._closed.add(grant.owner)
            self._journal.append({"run_id": grant.run_id, "task_id": grant.task_id, "closed": True})

    def is_closed(self, grant: Grant) -> bool:
        """Return whether the grant's task was closed."""
        with self._lock:
            return grant.owner in self._closed

    def of(self, grant: Grant) -> list[CallRecord]:
        """Return the records of the grant's task, in order of their number, with those of calls in progress."""
        owner = grant.owner
        with self._lock:
            records = list(self._records.get(owner, ()))
            records += [so_far() for so_far in self._running.get(owner, {}).values()]
        return sorted(records, key=lambda record: record.number)
