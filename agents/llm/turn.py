"""The requests about one message, and what they leave out once the model's context is full."""

from __future__ import annotations

from typing import Any

from refusal import ContextFull

DROPPED_RESULT = "[dropped: the context was full]"
MIN_OUTPUT_TOKENS = 256
SHORT_OUTPUT_TOKENS = 1024


class Turn:
    """One message to the model: what was remembered, the question, the tool calls so far and their results."""

    def __init__(
        self,
        *,
        system: str,
        history: list[dict[str, Any]],
        question: str,
        functions: list[dict[str, Any]],
        output_tokens: int,
    ) -> None:
        self.functions = functions
        self.output_tokens = output_tokens
        self.has_history = bool(history)
        self._system = {"role": "system", "content": system}
        self._history = history
        self._question = question
        self._exchanges: list[dict[str, Any]] = []
        self._notes: list[str] = []

    def add(self, message: dict[str, Any]) -> None:
        """Add what the model said, or a result to it."""
        self._exchanges.append(message)

    def request(self, *, last: str = "") -> dict[str, Any]:
        """Return messages and tools of the next request; ``last`` says that it is the last, without tools."""
        notes = "".join(f"\n\n[Note: {note}.]" for note in self._notes)
        question = {"role": "user", "content": self._question + notes}
        messages = [self._system, *self._history, question, *self._exchanges]
        if last or not self.functions:
            if last and self._exchanges:
                messages.append({"role": "user", "content": last})
            return {"messages": messages}
        return {"messages": messages, "tools": self.functions, "tool_choice": "auto"}

    def shorten(self, full: ContextFull) -> str:
        """Leave something out: a reply too long for the context, then results, history, a long reply, tools.

        Returns
        -------
        str
            What was left out. The model is told the same.

        Raises
        ------
        ContextFull
            When there is nothing left to leave out.
        """
        if full.room is not None and MIN_OUTPUT_TOKENS <= full.room < self.output_tokens:
            self.output_tokens = full.room
            return f"the reply is limited to {full.room} tokens, the room in the context"
        note = self._drop(full)
        if note not in self._notes:
            self._notes.append(note)
        return note

    def _drop(self, full: ContextFull) -> str:
        results = [item for item in self._exchanges if item["role"] == "tool" and item["content"] != DROPPED_RESULT]
        if results:
            # the newest alone is what the model waits for, as long as there are others
            for item in results[:-1] or results:
                item["content"] = DROPPED_RESULT
            return "tool results were dropped, because your context is full; keep to the point"
        if self._history:
            self._history, self.has_history = [], False
            return "earlier messages were dropped, because your context is full"
        if self.output_tokens > SHORT_OUTPUT_TOKENS:
            self.output_tokens = SHORT_OUTPUT_TOKENS
            return f"the reply is limited to {SHORT_OUTPUT_TOKENS} tokens, because your context is full"
        if self.functions:
            return self.drop_tools("because your context is full")
        raise full

    def drop_tools(self, why: str) -> str:
        """Go on without tools and without the calls so far; return what the model is told."""
        self.functions, self._exchanges = [], []
        note = f"the tools were dropped, {why}; answer without them"
        if note not in self._notes:
            self._notes.append(note)
        return note
