"""One call from the host's side: hand over the request, collect what is printed, enforce the limits, name the end."""

from __future__ import annotations

import json
import os
import select
import signal
import time
from dataclasses import dataclass, field
from typing import Any

from mcp_servers.sandbox import limits
from mcp_servers.sandbox.json_value import require_plain, values_at_most
from mcp_servers.sandbox.outcome import REPORTED_BY_CHILD, ErrorClass, Left, Outcome, SandboxFault, Usage
from mcp_servers.sandbox.user_code import ERROR_LIMIT_CHARACTERS, FAULT, LOCKED, SEPARATOR
from mcp_servers.sandbox.zygote_process import CallEnd, ZygoteProcess

_CHUNK_BYTES = 1 << 16
_END_GRACE_S = 5.0
_SUMMARY_LIMIT_BYTES = 64 * 1024
_SUMMARY_KEYS = {"restored": list, "kept": list, "not_kept": dict, "files": dict}


@dataclass
class _Pipe:
    """The read end of one of the child's pipes, and what came through it."""

    descriptor: int
    limit_bytes: int
    content: bytearray = field(default_factory=bytearray)

    def take(self) -> bool:
        """Read once; return whether more may come."""
        chunk = os.read(self.descriptor, _CHUNK_BYTES)
        self.content += chunk
        return bool(chunk)

    @property
    def overflows(self) -> bool:
        return len(self.content) > self.limit_bytes

    def text(self) -> str:
        return bytes(self.content[: self.limit_bytes]).decode(errors="replace")


def _request_descriptor(request: bytes) -> int:
    """Return a descriptor of memory that holds ``request``: no file, no pipe to fill while the child starts."""
    descriptor = os.memfd_create("request", os.MFD_CLOEXEC)
    view = memoryview(request)
    while view:
        view = view[os.write(descriptor, view) :]
    return descriptor


class Call:
    """A call in progress on one zygote."""

    def __init__(self, zygote: ZygoteProcess, request: bytes, timeout_s: float, *, in_session: bool = False) -> None:
        self._zygote, self._in_session = zygote, in_session
        self._started = time.monotonic()
        self._deadline = self._started + timeout_s
        self._killed_by: ErrorClass | None = None
        handed_over = [_request_descriptor(request)]
        read_ends: list[int] = []
        try:
            for _ in range(3):
                read_end, write_end = os.pipe()
                read_ends.append(read_end)
                handed_over.append(write_end)
            self._id, self._end = zygote.start_call(handed_over)
        except BaseException:
            for descriptor in read_ends:
                os.close(descriptor)
            raise
        finally:
            for descriptor in handed_over:
                os.close(descriptor)
        self._stdout = _Pipe(read_ends[0], limits.OUTPUT_LIMIT_BYTES)
        self._stderr = _Pipe(read_ends[1], limits.OUTPUT_LIMIT_BYTES)
        self._result = _Pipe(read_ends[2], self._most_reported())

    def _most_reported(self) -> int:
        most = limits.RESULT_LIMIT_BYTES + len(LOCKED)
        return most + limits.STATE_LIMIT_BYTES + _SUMMARY_LIMIT_BYTES if self._in_session else most

    def finish(self) -> Outcome:
        """Wait for the end and return the outcome.

        Raises
        ------
        SandboxFault
            The child never got ready or the zygote died: nothing the code did.
        """
        try:
            self._collect()
            self._await_end()
        finally:
            for pipe in self._pipes:
                os.close(pipe.descriptor)
        return self._judge(self._end, time.monotonic() - self._started)

    @property
    def _pipes(self) -> tuple[_Pipe, _Pipe, _Pipe]:
        return self._stdout, self._stderr, self._result

    def _kill(self, reason: ErrorClass) -> None:
        if self._killed_by is None:
            self._killed_by = reason
            self._zygote.kill_call(self._id)

    def _collect(self) -> None:
        """Read until every pipe is closed or the call is killed."""
        open_pipes = {pipe.descriptor: pipe for pipe in self._pipes}
        poll = select.poll()
        for descriptor in open_pipes:
            poll.register(descriptor, select.POLLIN)
        while open_pipes and self._killed_by is None:
            left_s = self._deadline - time.monotonic()
            if left_s <= 0:
                self._kill("timeout")
                return
            for descriptor, _ in poll.poll(left_s * 1000 + 1):
                pipe = open_pipes[descriptor]
                if not pipe.take():
                    poll.unregister(descriptor)
                    del open_pipes[descriptor]
                elif pipe.overflows:
                    self._kill("output_cap")
                    return

    def _await_end(self) -> None:
        """Wait for the process itself, which may live on after it closed its pipes."""
        if not self._end.ended.wait(max(0.0, self._deadline - time.monotonic())):
            self._kill("timeout")
        if not self._end.ended.wait(_END_GRACE_S):
            raise SandboxFault("a killed call did not end")

    def _judge(self, end: CallEnd, wall_seconds: float) -> Outcome:
        reported = bytes(self._result.content)
        if end.fault is not None:
            raise SandboxFault(end.fault)
        if not reported.startswith(LOCKED) and self._killed_by != "timeout":
            detail = reported.removeprefix(FAULT).decode(errors="replace") or "it died"
            raise SandboxFault(f"the call was not locked down: {detail}")
        raw, *rest = reported[len(LOCKED) :].split(SEPARATOR, 2)
        report = _parse(raw) if len(raw) <= limits.RESULT_LIMIT_BYTES else {}
        error_class, error, killed_by = self._verdict(end, report)
        ok = error_class is None
        return Outcome(
            ok=ok,
            result=report.get("result") if ok else None,
            stdout=self._stdout.text(),
            stderr=self._stderr.text(),
            truncated=self._stdout.overflows or self._stderr.overflows,
            error_class=error_class,
            error=error,
            killed_by=killed_by,
            usage=Usage(wall_seconds=wall_seconds, cpu_seconds=end.cpu_seconds, peak_bytes=end.peak_bytes),
            left=_left(rest) if self._in_session and self._killed_by is None else None,
        )

    def _verdict(self, end: CallEnd, report: dict[str, Any]) -> tuple[ErrorClass | None, str | None, str | None]:
        """Return class, message and killer. What was seen from outside goes before what the child says."""
        if self._killed_by is not None:
            return self._killed_by, _KILL_MESSAGES[self._killed_by], self._killed_by
        if os.WIFSIGNALED(end.status):
            return _verdict_of_signal(os.WTERMSIG(end.status), end.cpu_seconds)
        if "error_class" in report:
            claimed = report["error_class"]
            known: ErrorClass = claimed if claimed in REPORTED_BY_CHILD else "user_error"
            return known, str(report.get("error", ""))[:ERROR_LIMIT_CHARACTERS], None
        if "result" not in report:
            return "user_error", "the code ended the process without a result", None
        return None, None, None


_KILL_MESSAGES: dict[ErrorClass, str] = {
    "timeout": "the code ran longer than timeout_s",
    "output_cap": f"more than {limits.OUTPUT_LIMIT_BYTES} bytes were printed",
}


def _verdict_of_signal(number: int, cpu_seconds: float) -> tuple[ErrorClass, str, str]:
    if number == signal.SIGSYS:
        return "policy_violation", "the code made a system call that the sandbox forbids", "policy_violation"
    spent = number == signal.SIGKILL and cpu_seconds >= limits.CPU_LIMIT_S
    if number == signal.SIGXCPU or spent:
        return "cpu", f"the code used more than {limits.CPU_LIMIT_S} s of processor time", "cpu"
    if number == signal.SIGKILL:
        raise SandboxFault("the call was killed from outside the sandbox")
    name = signal.Signals(number).name if number in set(signal.Signals) else str(number)
    return "user_error", f"the code crashed its process with {name}", name


def _left(parts: list[bytes]) -> Left | None:
    """Return what was left for the next call; None where the code wrote something else in its place."""
    summary = _parse(parts[0]) if len(parts) == 2 and len(parts[0]) <= _SUMMARY_LIMIT_BYTES else {}
    if set(summary) != set(_SUMMARY_KEYS) or not all(isinstance(summary[key], of) for key, of in _SUMMARY_KEYS.items()):
        return None
    texts = [*summary["restored"], *summary["kept"], *summary["not_kept"].values()]
    sizes = summary["files"].values()
    if not all(isinstance(text, str) for text in texts) or not all(type(size) is int for size in sizes):
        return None
    return Left(parts[1], summary)


def _parse(raw: bytes) -> dict[str, Any]:
    """Read the child's report, which the code may have forged or cut short: only its own result is at stake."""
    if values_at_most(raw) > limits.RESULT_LIMIT_VALUES:
        return {}
    try:
        report = json.loads(raw)
        # The report itself is one level more than the result in it.
        require_plain(report, depth=-1)
    except (ValueError, RecursionError):
        return {}
    return report if isinstance(report, dict) else {}
