"""The loop between model and tools, with its limits and its meter."""

from __future__ import annotations

import json
import re
import time
from collections import OrderedDict
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from a2a_service import Answer, Progress
from clock import Clock, Patience
from functions import as_said, call, describe
from mcp_toolbox import Toolbox, server_urls
from memory import Memory
from meter import Meter, Prices
from prompt import ANSWER_NOW
from provider import Provider
from refusal import ContextFull, ToolsRefused
from turn import Turn

MAX_CONVERSATIONS = 256
_FENCE = re.compile(r"\A```(?:json)?\s*\n(.*)\n```\s*\Z", re.DOTALL)
_THOUGHT = re.compile(r"\A\s*<think>.*?</think>\s*", re.DOTALL)


@dataclass(frozen=True)
class Limits:
    """What one message may use.

    Attributes
    ----------
    model_calls
        Calls of the model, the last of which may not call tools.
    cost_usd
        US dollars after which the model gets one last call, without tools. Without effect where prices are unknown.
    output_tokens
        Output tokens of one call; 0 leaves it to the endpoint.
    patience
        How long message, conversation and call may take.
    """

    model_calls: int
    cost_usd: float
    output_tokens: int
    patience: Patience


class Dialogues:
    """All conversations of this agent; the longest unused are forgotten first.

    ``servers`` are the tool servers whose tools the model is offered, None for all that a task names.
    """

    def __init__(
        self, provider: Provider, *, limits: Limits, prices: Prices, servers: Collection[str] | None = None
    ) -> None:
        self._provider = provider
        self._limits = limits
        self._prices = prices
        self._servers = servers
        self._memories: OrderedDict[str, Memory] = OrderedDict()

    async def reply(self, text: str, conversation: str, progress: Progress) -> Answer:
        """Answer one message of a conversation; ``progress.usage`` is what it has used, whether it ends well or not."""
        meter = Meter(self._prices)
        progress.usage = meter.report()
        body = _read(text)
        memory = self._memory(conversation, body)
        clock = Clock(self._limits.patience, began=memory.began, messages_left=_messages_left(body))
        async with Toolbox(dict(memory.urls)) as toolbox:
            functions = await describe(toolbox, self._servers) if memory.needs_tools(body) else []
            turn = memory.turn(body, functions, output_tokens=self._limits.output_tokens)
            answer = await _Work(self._provider, self._limits, memory, turn, toolbox, meter, clock, progress).answer()
        answer = _without_wrapping(answer)
        memory.keep(body, answer)
        return Answer(answer, usage=meter.report())

    def _memory(self, conversation: str, body: dict[str, Any]) -> Memory:
        memory = self._memories.pop(conversation, None) or Memory.of(body)
        self._memories[conversation] = memory
        while len(self._memories) > MAX_CONVERSATIONS:
            self._memories.popitem(last=False)
        memory.urls = server_urls(body) or memory.urls
        return memory


@dataclass
class _Work:
    """The work on one message."""

    provider: Provider
    limits: Limits
    memory: Memory
    turn: Turn
    toolbox: Toolbox
    meter: Meter
    clock: Clock
    progress: Progress

    async def answer(self) -> str:
        """Let the model call tools until it answers or a limit is met; then it has to answer."""
        for _ in range(self.limits.model_calls - 1):
            if not self.turn.functions or self._is_spent() or self.clock.is_short():
                break
            said = await self._ask(last="")
            if not said.tool_calls:
                return said.content or ""
            self.turn.add(
                {"role": "assistant", "content": said.content or "", "tool_calls": list(map(as_said, said.tool_calls))}
            )
            for requested in said.tool_calls:
                self.memory.called.add(requested.function.name)
                result = await call(requested.function.name, requested.function.arguments, self.toolbox)
                self.turn.add({"role": "tool", "tool_call_id": requested.id, "content": result})
        return (await self._ask(last=ANSWER_NOW)).content or ""

    def _is_spent(self) -> bool:
        return (self.meter.cost_usd or 0.0) >= self.limits.cost_usd

    async def _ask(self, *, last: str) -> Any:
        """Ask the model; where its context is full or it takes no tools, ask for less, and say so."""
        while True:
            began, had_tools = time.monotonic(), bool(self.turn.functions)
            request = self.turn.request(last=last)
            try:
                completion = await self.provider.complete(
                    output_tokens=self.turn.output_tokens, clock=self.clock, **request
                )
            except ContextFull as full:
                note = self.turn.shorten(full)
                self.memory.without_history |= bool(self.memory.messages) and not self.turn.has_history
            except ToolsRefused as refused:
                note = self.turn.drop_tools(f"because the endpoint refuses them ({refused})")
            else:
                break
            self.memory.tools_dropped |= had_tools and not self.turn.functions
            await self.progress(note)
        self.clock.took(time.monotonic() - began)
        self.meter.add(completion.usage)
        self.progress.usage = self.meter.report()
        if not completion.choices:
            raise ValueError("the endpoint sent a completion without a choice")
        choice = completion.choices[0]
        if choice.finish_reason == "length":
            await self.progress(f"the model's reply was cut at {self.turn.output_tokens} tokens (--max-output-tokens)")
        return choice.message


def _read(text: str) -> dict[str, Any]:
    try:
        body = json.loads(text)
    except ValueError:
        body = None
    return body if isinstance(body, dict) else {"question": text}


def _messages_left(body: dict[str, Any]) -> int:
    """Return how many messages a conversation still has, where it says so, this one included."""
    number, of = body.get("decision"), body.get("decisions")
    return max(1, of - number + 1) if isinstance(number, int) and isinstance(of, int) else 1


def _without_wrapping(answer: str) -> str:
    """Return the answer without the model's thoughts before it and without a Markdown fence around the whole of it."""
    answer = _THOUGHT.sub("", answer, count=1)
    fenced = _FENCE.match(answer.strip())
    return fenced.group(1) if fenced else answer
