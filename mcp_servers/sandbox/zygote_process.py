"""The host's end of one zygote: start it, hand it calls, learn of their ends, stop it."""

from __future__ import annotations

import itertools
import json
import os
import socket
import subprocess
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from mcp_servers.sandbox import bubblewrap
from mcp_servers.sandbox.outcome import SandboxFault, SandboxUnavailable
from mcp_servers.sandbox.readable import Readable, interpreter
from mcp_servers.sandbox.zygote import CALL, KILL, MESSAGE

Outer = Literal["bwrap", "namespaces", "none"]
START_LIMIT_S = 60.0
_STOP_LIMIT_S = 5.0
_LARGEST_MESSAGE = 1 << 16
_NOBODY = 65534
_SOURCES = Path(__file__).resolve().parents[1]
_BOOT = """
import sys
sys.path.insert(0, {root!r})
from mcp_servers.sandbox.zygote import main
sys.path.remove({root!r})
main({descriptor})
"""
_ENVIRONMENT = {
    "HOME": "/nonexistent",
    "LANG": "C.UTF-8",
    "TZ": "UTC",
    "MALLOC_ARENA_MAX": "2",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "PYTHONHASHSEED": "0",
    "PYTHONDONTWRITEBYTECODE": "1",
}


@dataclass(frozen=True)
class Tier:
    """Which protections surround a call. Every tier has seccomp, and a mount namespace or Landlock.

    Attributes
    ----------
    outer
        Layer around the zygote: bubblewrap, namespaces of our own making, or none.
    landlock
        Whether each call is also under Landlock.
    """

    outer: Outer
    landlock: bool

    def __post_init__(self) -> None:
        if self.outer == "none" and not self.landlock:
            raise ValueError("a tier needs a mount namespace (outer 'bwrap' or 'namespaces') or landlock=True")

    @property
    def name(self) -> str:
        """Return the name for result rows, strongest layer first."""
        layers = [] if self.outer == "none" else [self.outer]
        return "+".join([*layers, *(["landlock"] if self.landlock else []), "seccomp"])


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


def _command(tier: Tier, readable: Readable, descriptor: int) -> list[str]:
    boot = _BOOT.format(root=str(_SOURCES.parent), descriptor=descriptor)
    program = [interpreter(), "-S", "-s", "-P", "-c", boot]
    if tier.outer != "bwrap":
        return program
    bwrap = bubblewrap.find()
    if bwrap is None:
        raise SandboxUnavailable("bwrap is not installed in a system folder")
    own = [str(_SOURCES / "__init__.py"), str(Path(__file__).resolve().parent)]
    return bubblewrap.command(bwrap, readable, own, program)


class ZygoteProcess:
    """One running zygote. Start it on a thread that lives as long as it: the kernel ties its life to that thread."""

    def __init__(self, tier: Tier, readable: Readable, modules: Sequence[str]) -> None:
        self._ids = itertools.count(1)
        self._ends: dict[int, CallEnd] = {}
        self._lock = threading.Lock()
        self._broken: str | None = None
        self.calls_started = 0
        self._connection, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        try:
            with theirs:
                self._process = self._spawn(_command(tier, readable, theirs.fileno()), tier, theirs)
            self._await_ready(tier, readable, modules)
        except BaseException:
            self._connection.close()
            raise
        self._ready_since = time.monotonic()
        self._reader = threading.Thread(target=self._read, name="sandbox-zygote-reader", daemon=True)
        self._reader.start()

    @staticmethod
    def _spawn(command: list[str], tier: Tier, theirs: socket.socket) -> subprocess.Popen[bytes]:
        # Bubblewrap maps one user only, so root must have become nobody before it.
        as_nobody = tier.outer == "bwrap" and os.geteuid() == 0
        return subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            pass_fds=[theirs.fileno()],
            env=_ENVIRONMENT,
            cwd="/",
            start_new_session=True,
            user=_NOBODY if as_nobody else None,
            group=_NOBODY if as_nobody else None,
            extra_groups=[] if as_nobody else None,
        )

    def _await_ready(self, tier: Tier, readable: Readable, modules: Sequence[str]) -> None:
        settings = {
            "outer": tier.outer,
            "landlock": tier.landlock,
            "readable": readable.to_json(),
            "modules": list(modules),
        }
        self._connection.settimeout(START_LIMIT_S)
        try:
            self._connection.send(json.dumps(settings).encode())
            raw = self._connection.recv(_LARGEST_MESSAGE)
        except OSError:
            raw = b""
        self._connection.settimeout(None)
        answer = json.loads(raw) if raw else {}
        if "ready" not in answer:
            self._process.kill()
            _, complaint = self._process.communicate()
            last_line = complaint.decode(errors="replace").strip().rpartition("\n")[2]
            raise SandboxUnavailable(
                f"tier {tier.name}: {answer.get('failed') or last_line or 'the zygote did not start'}"
            )
        if self._process.stderr is not None:
            self._process.stderr.close()

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
    def pid(self) -> int:
        """Return the process id of the program that was started (the zygote itself or its outer layer)."""
        return self._process.pid

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
        """End the zygote and all its children, and wait until they are gone."""
        try:
            self._connection.shutdown(socket.SHUT_WR)
        except OSError:
            pass
        self._reader.join(_STOP_LIMIT_S)
        try:
            self._process.wait(_STOP_LIMIT_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._connection.close()
