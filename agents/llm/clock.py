"""The time of one message: how long a call of the model may take, and when it has to answer."""

from __future__ import annotations

import time
from dataclasses import dataclass

SHARE = 0.9
"""Of the time that the other side waits: the agent's own error has to arrive before the other side gives up."""


@dataclass(frozen=True)
class Patience:
    """How long the other side waits, and the agent for one call of its model.

    Attributes
    ----------
    message_s, task_s
        Seconds for one message, and for all messages of a conversation.
    request_s
        Seconds for one call of the model.
    """

    message_s: float
    task_s: float
    request_s: float


class Clock:
    """The time of one message.

    Parameters
    ----------
    patience
        Its limits.
    began
        When the conversation began (``time.monotonic()``).
    messages_left
        Messages of the conversation that are still to come, this one included: they share what is left of it.
    """

    def __init__(self, patience: Patience, *, began: float, messages_left: int = 1) -> None:
        now = time.monotonic()
        task_end = began + SHARE * patience.task_s
        self._request_s = patience.request_s
        self._end = min(now + SHARE * patience.message_s, max(task_end, now + 1.0))
        self._fair_end = min(self._end, now + max(0.0, task_end - now) / max(1, messages_left))
        self._slowest_s = 0.0

    def left_s(self) -> float:
        """Return the seconds that are left."""
        return self._end - time.monotonic()

    def call_s(self) -> float:
        """Return the seconds that the next call of the model may take."""
        return max(0.1, min(self._request_s, self.left_s()))

    def took(self, seconds: float) -> None:
        """Learn from a call of the model."""
        self._slowest_s = max(self._slowest_s, seconds)

    def is_short(self) -> bool:
        """Return whether there may be no time for this call and another one: then this one has to be the answer."""
        return time.monotonic() + 2.0 * self._slowest_s > self._fair_end
