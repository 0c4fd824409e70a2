"""What is remembered of a conversation, and which of its tools are offered again."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any

from prompt import is_trading, remembered, system_text, user_text
from turn import Turn

MAX_REMEMBERED_MESSAGES = 2
MESSAGES_WITH_ALL_TOOLS = 2
"""Of a conversation about trading: later ones are offered only what was called in these."""


@dataclass
class Memory:
    """One conversation: its latest texts without the tool calls in between.

    Attributes
    ----------
    system
        Instructions, with the format of the answers.
    began
        When it began (``time.monotonic()``).
    urls
        Addresses of its tool servers.
    messages
        What was said last.
    answered
        Messages that were answered.
    called
        Functions that were called.
    tools_dropped, without_history
        What the model's context had no room for.
    """

    system: str
    began: float = field(default_factory=time.monotonic)
    urls: dict[str, str] = field(default_factory=dict)
    messages: list[dict[str, Any]] = field(default_factory=list)
    answered: int = 0
    called: set[str] = field(default_factory=set)
    tools_dropped: bool = False
    without_history: bool = False

    @classmethod
    def of(cls, first: dict[str, Any]) -> Memory:
        """Return the memory of a conversation that the message ``first`` opens."""
        return cls(system_text(first))

    def needs_tools(self, body: dict[str, Any]) -> bool:
        """Return whether any tool may be offered with the message ``body``."""
        return not self.tools_dropped and not (self._is_narrowed(body) and not self.called)

    def turn(self, body: dict[str, Any], functions: list[dict[str, Any]], *, output_tokens: int) -> Turn:
        """Return the work on the message ``body``, for which the servers have ``functions``."""
        if not self.needs_tools(body):
            functions = []
        elif self._is_narrowed(body):
            functions = [item for item in functions if item["function"]["name"] in self.called]
        return Turn(
            system=self.system,
            history=[] if self.without_history else self.messages,
            question=user_text(body),
            functions=functions,
            output_tokens=output_tokens,
        )

    def keep(self, body: dict[str, Any], answer: str) -> None:
        """Remember a message and its answer."""
        self.answered += 1
        self.messages = [*self.messages, *remembered(body, answer)][-MAX_REMEMBERED_MESSAGES:]

    def _is_narrowed(self, body: dict[str, Any]) -> bool:
        return is_trading(body) and self.answered >= MESSAGES_WITH_ALL_TOOLS
