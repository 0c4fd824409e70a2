"""The host's end of one zygote: hand it calls, learn of their ends, stop it."""

from __future__ import annotations

import itertools
import json
import socket
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from mcp_servers.sandbox.outcome import SandboxFault, SandboxUnavailable
from mcp_servers.sandbox.zygote import CALL, KILL, MESSAGE

_FORK_LIMIT_S = 30.0
_STOP_LIMIT_S = 5.0
_LARGEST_MESSAGE = 1 << 16


@dataclass
class CallEnd:
    """How the zygote saw a call end; ``ended`` is set once the rest is there."""

    ended: threading.Event = field(default_factory=threading.Event)
    status: int = 0
    cpu_seconds: float = 0.0
    peak_bytes: int = 0
    fault: str | None = None

    def fill(self, message: dict[str, Any]) -> None:
        """Take over the zygote's report."""
        self.fault = message.get("fault")
        self.status = message.get("status", 0)
        self.cpu_seconds = message.get("cpu_seconds", 0.0)
        self.peak_bytes = message.get("peak_bytes", 0)
        self.ended.set()


class ZygoteProcess:
    """A running zygote, at the other end of ``connection``, which this object owns."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._ids = itertools.count(1)
        self._ends: dict[int, CallEnd] = {}
        self._lock = threading.Lock()
        self._broken: str | None = None
        self.calls_started = 0
        self._await_ready()
        self._ready_since = time.monotonic()
        self._reader = threading.Thread(target=self._read, name="sandbox-zygote-reader", daemon=True)
        self._reader.start()

    def _await_ready(self) -> None:
        self._connection.settimeout(_FORK_LIMIT_S)
        try:
            raw = self._connection.recv(_LARGEST_MESSAGE)
        except OSError:
            raw = b""
        if not raw:
            self._connection.close()
            raise SandboxUnavailable("the nursery forked no zygote")
        self._connection.settimeout(None)

    @property
    def age_s(self) -> float:
        """Return the seconds since the zygote was ready."""
        return time.monotonic() - self._ready_since

    @property
    def in_flight(self) -> int:
        """Return the number of calls that have not ended."""
        with self._lock:
            return len(self._ends)

    @property
    def usable(self) -> bool:
        """Return whether the zygote still answers."""
        return self._broken is None

    def start_call(self, descriptors: Sequence[int]) -> tuple[int, CallEnd]:
        """Fork a child with these four descriptors (request, stdout, stderr, result); the caller closes its copies."""
        end = CallEnd()
        with self._lock:
            if self._broken is not None:
                raise SandboxFault(self._broken)
            call = next(self._ids)
            self._ends[call] = end
            self.calls_started += 1
        try:
            socket.send_fds(self._connection, [MESSAGE.pack(CALL, call)], list(descriptors))
        except OSError as error:
            with self._lock:
                self._ends.pop(call, None)
            raise SandboxFault(f"the zygote takes no calls: {error}") from error
        return call, end

    def kill_call(self, call: int) -> None:
        """Kill the child of ``call``, if it still runs."""
        try:
            self._connection.send(MESSAGE.pack(KILL, call))
        except OSError:
            # The zygote is gone and has taken its children along.
            return

    def _read(self) -> None:
        reason = "the zygote ended in mid-call"
        while True:
            try:
                raw = self._connection.recv(_LARGEST_MESSAGE)
            except OSError:
                raw = b""
            if not raw:
                break
            message = json.loads(raw)
            with self._lock:
                end = self._ends.pop(message["id"], None)
            if end is not None:
                end.fill(message)
        with self._lock:
            self._broken = reason
            left, self._ends = list(self._ends.values()), {}
        for end in left:
            end.fill({"fault": reason})

    def stop(self) -> None:
        """End the zygote and all its calls, and wait until it is gone."""
        try:
            self._connection.shutdown(socket.SHUT_WR)
        except OSError:
            # It is gone already.
            pass
        self._reader.join(_STOP_LIMIT_S)
        self._connection.close()
