"""What each task asked of a server: counted against its limit, kept for the harness."""

from __future__ import annotations

import hashlib
import json
import threading
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TypeAlias

from mcp_servers.access import Grant

Owner: TypeAlias = tuple[str, str]
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
        Time on the server.
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
        self._path = path
        if path is not None and path.exists():
            self._read_back(path)

    def _read_back(self, path: Path) -> None:
        for line in path.read_text(encoding="utf-8").splitlines():
            try:
                entry = json.loads(line)
            except json.JSONDecodeError:
                continue  # a line cut off by the death of the process that wrote it: that call was never answered
            owner = (entry.pop("run_id"), entry.pop("task_id"))
            record = CallRecord(**entry)
            self._records.setdefault(owner, []).append(record)
            self._started[owner] = max(self._started.get(owner, 0), record.number)

    def start(self, grant: Grant) -> int:
        """Count a call and return its number; it is over the limit when the number exceeds ``grant.max_tool_calls``."""
        owner = (grant.run_id, grant.task_id)
        with self._lock:
            self._started[owner] = self._started.get(owner, 0) + 1
            return self._started[owner]

    def finish(self, grant: Grant, record: CallRecord) -> None:
        """Keep the record of a call."""
        line = json.dumps({"run_id": grant.run_id, "task_id": grant.task_id} | asdict(record))
        with self._lock:
            self._records.setdefault((grant.run_id, grant.task_id), []).append(record)
            if self._path is not None:
                with self._path.open("a", encoding="utf-8") as file:
                    file.write(line + "\n")

    def of(self, grant: Grant) -> list[CallRecord]:
        """Return the records of the grant's task, in order of their number."""
        with self._lock:
            records = list(self._records.get((grant.run_id, grant.task_id), ()))
        return sorted(records, key=lambda record: record.number)
