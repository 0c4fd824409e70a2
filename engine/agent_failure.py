"""Why an exchange with an agent came to nothing."""

from __future__ import annotations

from typing import Literal, TypeAlias

FailureKind: TypeAlias = Literal["unreachable", "timeout", "protocol", "too_large", "rejected", "agent_error"]


def printable(text: str) -> str:
    """Return foreign text as it may be stored and shown: no lone surrogates, no control or escape characters."""
    kept = (char if char.isprintable() or char.isspace() else char.encode("unicode_escape").decode() for char in text)
    return "".join(kept)


class AgentFailure(Exception):
    """The agent did not give a usable reply. All of it is in the agent's power, none of it is the harness's fault.

    Parameters
    ----------
    kind
        ``unreachable``: no connection, or it broke. ``timeout``: the total deadline passed. ``protocol``: what came is
        not A2A, or belongs to another task. ``too_large``: more bytes than the cap. ``rejected``: the agent refused
        the message. ``agent_error``: the agent says that it failed.
    message
        What happened; folded to one line of at most 300 characters.
    """

    def __init__(self, kind: FailureKind, message: str) -> None:
        line = " ".join(printable(message).split())
        super().__init__(line if len(line) <= 300 else line[:297] + "...")
        self.kind: FailureKind = kind
