"""What one call returns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

ErrorClass = Literal["user_error", "timeout", "cpu", "memory", "output_cap", "policy_violation", "sandbox_fault"]
REPORTED_BY_CHILD: tuple[ErrorClass, ...] = ("user_error", "memory", "policy_violation", "output_cap")


@dataclass(frozen=True)
class Usage:
    """What a call used: wall clock and processor time in seconds, peak resident memory in bytes."""

    wall_seconds: float
    cpu_seconds: float
    peak_bytes: int


@dataclass(frozen=True)
class Left:
    """The state that a call left, as the code in it tells.

    Attributes
    ----------
    state
        For the next call, and for nobody else to read; empty where it was too large to keep.
    summary
        ``restored``, ``kept``, ``not_kept`` (with reasons) and ``files`` (with sizes).
    """

    state: bytes
    summary: dict[str, Any]


@dataclass(frozen=True)
class Outcome:
    """The end of one call.

    Attributes
    ----------
    ok
        The code ran to its end.
    result
        Value of ``result``, or of the last line, as JSON types; None when not ``ok``.
    stdout, stderr
        What was printed, each at most the output limit; ``truncated`` when some of it was cut off.
    error_class, error
        None when ``ok``; else whose fault and why. Only ``sandbox_fault`` is ours.
    killed_by
        The limit (an error class) or signal that ended the process; None when it ended by itself.
    usage
        Measured from outside the sandbox.
    left
        What a call in a session left for the next one; None outside of a session, and where the call was killed.
    """

    ok: bool
    result: Any
    stdout: str
    stderr: str
    truncated: bool
    error_class: ErrorClass | None
    error: str | None
    killed_by: str | None
    usage: Usage
    left: Left | None = None


class SandboxFault(RuntimeError):
    """A call failed through no fault of the code it ran; it may be tried again."""


class SandboxUnavailable(RuntimeError):
    """Foreign code cannot be run safely on this machine, so none is run; the message says what is missing."""
