"""Why an exchange with an agent came to nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from engine.agent.dialect import Usage

FailureKind: TypeAlias = Literal[
    "unreachable", "provider_unavailable", "timeout", "protocol", "too_large", "rejected", "agent_error"
]


def printable(text: str) -> str:
    """Return foreign text as it may be stored and shown: no lone surrogates, no control or escape characters."""
    kept = (char if char.isprintable() or char.isspace() else char.encode("unicode_escape").decode() for char in text)
    return "".join(kept)


class AgentFailure(Exception):
    """The agent did not give a usable reply. All of it is in the agent's power, none of it is the harness's fault.

    Parameters
    ----------
    kind
        ``unreachable``: no connection, or it broke, or HTTP 401, 429 or 5xx instead of an answer.
        ``provider_unavailable``: the agent says that what it depends on, such as its model, cannot be had.
        ``timeout``: the total deadline passed. ``protocol``: what came is not A2A, or belongs to another task.
        ``too_large``: more bytes than the cap.
        ``rejected``: the agent refused the message. ``agent_error``: the agent says that it failed.
    message
        What happened; folded to one line of at most 300 characters.
    sent
        Whether the agent may have seen the message. Only what it cannot have seen is sent again.

    Attributes
    ----------
    usage
        What the agent says the failed reply cost; None when it does not say.
    """

    def __init__(self, kind: FailureKind, message: str, *, sent: bool = True) -> None:
        line = " ".join(printable(message).split())
        super().__init__(line if len(line) <= 300 else line[:297] + "...")
        self.kind: FailureKind = kind
        self.sent = sent
        self.usage: Usage | None = None

    @property
    def unavailable(self) -> bool:
        """Whether there was nobody to answer: an error of transport, not an answer."""
        return self.kind in ("unreachable", "provider_unavailable")
