"""A nursery and its zygotes, which are renewed in turn, so that there is always one to take a call."""

from __future__ import annotations

import json
import queue
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from mcp_servers.sandbox import limits, readable, workspace
from mcp_servers.sandbox.call import Call
from mcp_servers.sandbox.nursery_process import START_LIMIT_S, NurseryProcess
from mcp_servers.sandbox.outcome import Outcome, SandboxFault, SandboxUnavailable, Usage
from mcp_servers.sandbox.preload import MODULES
from mcp_servers.sandbox.protection import Tier
from mcp_servers.sandbox.user_code import SEPARATOR
from mcp_servers.sandbox.zygote_process import ZygoteProcess

SIZE = 2
_CALLS_IN_FLIGHT_PER_ZYGOTE = 4
_ATTEMPTS = 2
MIN_AGE_S = 10.0
"""A zygote younger than this outlives a refused call: a program that is refused again and again must not keep the
host busy with starts. One that made a fatal system call ends its zygote's service at any age."""


class Pool:
    """Runs calls; safe to use from many threads. Close it, or use it as a context manager."""

    def __init__(
        self,
        tier: Tier,
        *,
        size: int = SIZE,
        calls_per_zygote: int = limits.CALLS_PER_ZYGOTE,
        modules: Sequence[str] = MODULES,
    ) -> None:
        self.tier = tier
        self._size = size
        self._calls_per_zygote = calls_per_zygote
        self._modules = tuple(modules)
        self._readable = readable.find()
        self._changed = threading.Condition()
        self._zygotes: list[ZygoteProcess] = []
        self._worn: list[ZygoteProcess] = []
        self._retired: list[ZygoteProcess] = []
        self._nursery: NurseryProcess | None = None
        self._starting = 0
        self._start_error: str | None = None
        self._closed = False
        self._orders: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._slots = threading.BoundedSemaphore(_CALLS_IN_FLIGHT_PER_ZYGOTE * size)
        # PDEATHSIG belongs to the thread that spawns, so one thread that lives as long as the pool spawns them all.
        self._keeper = threading.Thread(target=self._keep, name="sandbox-pool-keeper", daemon=True)
        self._keeper.start()
        with self._changed:
            self._order_missing()

    def __enter__(self) -> Pool:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def execute(
        self,
        code: str,
        *,
        data: Any = None,
        timeout_s: float = 5.0,
        seed: int = 0,
        files: Mapping[str, str] | None = None,
        state: bytes | None = None,
    ) -> Outcome:
        """Run ``code`` in a fresh locked process and return its outcome; a fault of ours is tried once more.

        Parameters
        ----------
        code
            Python source, at most 64 KiB. The variable ``result``, or the value of the last line, is the result.
        data
            JSON value, at most 4 MiB, that the code sees as ``data``.
        timeout_s
            Wall clock limit in seconds, in (0, 10].
        seed
            Seed of the generators of ``random`` and ``numpy.random``.
        files
            Texts that the code can open by their names; 4 MiB in all.
        state
            What the call before of its session left, empty at first; None outside of a session.

        Raises
        ------
        ValueError
            An argument is over its limit.
        """
        request = _request(code, data, timeout_s, seed, files or {}, state)
        started = time.monotonic()
        for attempt in range(1, _ATTEMPTS + 1):
            try:
                with self._slots:
                    return self._run_once(request, timeout_s, in_session=state is not None)
            except SandboxFault as fault:
                if attempt == _ATTEMPTS:
                    return _faulty(fault, time.monotonic() - started)
        raise AssertionError("unreachable")

    def _run_once(self, request: bytes, timeout_s: float, *, in_session: bool) -> Outcome:
        zygote = self._choose()
        try:
            outcome = Call(zygote, request, timeout_s, in_session=in_session).finish()
        except SandboxFault:
            self._retire(zygote)
            raise
        finally:
            self._orders.put(self._stop_retired)
        if outcome.killed_by == "policy_violation":
            self._retire(zygote)
        elif self._is_worn(zygote, outcome):
            self._replace(zygote)
        return outcome

    def _is_worn(self, zygote: ZygoteProcess, outcome: Outcome) -> bool:
        refused = outcome.error_class == "policy_violation" and zygote.age_s >= MIN_AGE_S
        return refused or zygote.calls_started >= self._calls_per_zygote

    def _choose(self) -> ZygoteProcess:
        """Return the usable zygote with the fewest calls; wait for one while one is starting."""
        deadline = time.monotonic() + START_LIMIT_S
        with self._changed:
            while True:
                if self._closed:
                    raise SandboxUnavailable("the sandbox is closed")
                usable = [zygote for zygote in self._zygotes if zygote.usable]
                if usable:
                    return min(usable, key=lambda zygote: (zygote in self._worn, zygote.in_flight))
                if self._starting == 0:
                    self._start_error = None
                self._order_missing()
                if self._start_error is not None or not self._changed.wait(deadline - time.monotonic()):
                    raise SandboxUnavailable(self._start_error or "no zygote started in time")

    def _order_missing(self) -> None:
        for zygote in [zygote for zygote in self._zygotes if not zygote.usable]:
            self._take_out(zygote)
        while len(self._zygotes) - len(self._worn) + self._starting < self._size:
            self._starting += 1
            self._orders.put(self._start_one)

    def _take_out(self, zygote: ZygoteProcess) -> None:
        if zygote in self._zygotes:
            self._zygotes.remove(zygote)
            self._retired.append(zygote)
        if zygote in self._worn:
            self._worn.remove(zygote)

    def _retire(self, zygote: ZygoteProcess) -> None:
        """Give ``zygote`` no more calls, and order another."""
        with self._changed:
            self._take_out(zygote)
            if not self._closed:
                self._order_missing()

    def _replace(self, zygote: ZygoteProcess) -> None:
        """Order another for ``zygote``, which serves until that one has started."""
        with self._changed:
            if zygote in self._zygotes and zygote not in self._worn and not self._closed:
                self._worn.append(zygote)
                self._order_missing()

    def _keep(self) -> None:
        while (order := self._orders.get()) is not None:
            order()
        self._stop_retired()
        if self._nursery is not None:
            self._nursery.stop()

    def _is_closed(self) -> bool:
        with self._changed:
            return self._closed

    def _start_one(self) -> None:
        if self._is_closed():
            return
        try:
            zygote = self._new_zygote()
        except (SandboxUnavailable, OSError) as error:
            with self._changed:
                self._starting -= 1
                self._start_error = str(error)
                self._changed.notify_all()
            return
        with self._changed:
            self._starting -= 1
            self._start_error = None
            (self._retired if self._closed else self._zygotes).append(zygote)
            if self._worn:
                self._take_out(self._worn[0])
            self._changed.notify_all()
        self._stop_retired()

    def _new_zygote(self) -> ZygoteProcess:
        if self._nursery is not None:
            try:
                return ZygoteProcess(self._nursery.new_zygote())
            except SandboxUnavailable:
                self._nursery.stop()
        self._nursery = NurseryProcess(self.tier, self._readable, self._modules)
        return ZygoteProcess(self._nursery.new_zygote())

    def _stop_retired(self) -> None:
        """Stop the zygotes that take no more calls, once the calls they have are over."""
        with self._changed:
            over = [zygote for zygote in self._retired if self._closed or zygote.in_flight == 0]
            self._retired = [zygote for zygote in self._retired if zygote not in over]
        for zygote in over:
            zygote.stop()

    def wait_until_full(self, timeout_s: float = START_LIMIT_S) -> None:
        """Return once every zygote of the pool waits for calls."""
        with self._changed:
            self._changed.wait_for(lambda: self._starting == 0 or self._start_error is not None, timeout_s)
            if self._start_error is not None:
                raise SandboxUnavailable(self._start_error)

    def close(self) -> None:
        """End every process of the pool, calls included, and wait until they are gone."""
        with self._changed:
            if self._closed:
                return
            self._closed = True
            self._retired += self._zygotes
            self._zygotes, self._worn = [], []
            self._changed.notify_all()
        self._orders.put(None)
        self._keeper.join()


def _request(code: str, data: Any, timeout_s: float, seed: int, files: Mapping[str, str], state: bytes | None) -> bytes:
    size = len(code.encode())
    if size > limits.CODE_LIMIT_BYTES:
        raise ValueError(f"code has {size} bytes; at most {limits.CODE_LIMIT_BYTES} are allowed")
    if not 0 < timeout_s <= limits.TIMEOUT_LIMIT_S:
        raise ValueError(f"timeout_s is {timeout_s}; it must be above 0 and at most {limits.TIMEOUT_LIMIT_S}")
    wrong = next((name for name in files if not workspace.is_name(name)), None)
    if wrong is not None:
        raise ValueError(f"files: {wrong!r:.80} is no name of a file; plain names are, such as 'prices.csv'")
    for name, given in (("data", data), ("files", dict(files))):
        size = len(json.dumps(given).encode())
        if size > limits.DATA_LIMIT_BYTES:
            raise ValueError(f"{name} has {size} bytes as JSON; at most {limits.DATA_LIMIT_BYTES} are allowed")
    head = {"code": code, "data": data, "seed": seed, "files": dict(files), "session": state is not None}
    return json.dumps(head).encode() + SEPARATOR + (state or b"")


def _faulty(fault: SandboxFault, wall_seconds: float) -> Outcome:
    return Outcome(
        ok=False,
        result=None,
        stdout="",
        stderr="",
        truncated=False,
        error_class="sandbox_fault",
        error=str(fault),
        killed_by=None,
        usage=Usage(wall_seconds=wall_seconds, cpu_seconds=0.0, peak_bytes=0),
    )
