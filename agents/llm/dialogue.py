"""The loop between model and tools, with its limits and its meter."""

from __future__ import annotations

import json
import re
import time
from collections import OrderedDict
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any

from a2a_service import Answer, Progress
from clock import Clock, Patience
from functions import as_said, call, describe
from mcp_toolbox import Toolbox, server_urls
from meter import Meter, Prices
from prompt import ANSWER_NOW, is_trading, remembered, system_text, user_text
from provider import Provider
from refusal import ContextFull, ToolsRefused
from turn import Turn

MAX_CONVERSATIONS = 256
MAX_REMEMBERED_MESSAGES = 2
MESSAGES_WITH_ALL_TOOLS = 2
"""Of a conversation about trading: later ones are offered only what was called in these."""
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


@dataclass
class _Dialogue:
    """What is remembered of one conversation: its latest texts without the tool calls in between."""

    system: str
    began: float
    urls: dict[str, str] = field(default_factory=dict)
    messages: list[dict[str, Any]] = field(default_factory=list)
    answered: int = 0
    called: set[str] = field(default_factory=set)
    tools_dropped: bool = False
    without_history: bool = False


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
        self._dialogues: OrderedDict[str, _Dialogue] = OrderedDict()

    async def reply(self, text: str, conversation: str, progress: Progress) -> Answer:
        """Answer one message of a conversation; ``progress.usage`` is what it has used, whether it ends well or not."""
        meter = Meter(self._prices)
        progress.usage = meter.report()
        body = _read(text)
        dialogue = self._dialogue(conversation, body)
        clock = Clock(self._limits.patience, began=dialogue.began, messages_left=_messages_left(body))
        async with Toolbox(dict(dialogue.urls)) as toolbox:
            turn = Turn(
                system=dialogue.system,
                history=[] if dialogue.without_history else dialogue.messages[-MAX_REMEMBERED_MESSAGES:],
                question=user_text(body),
                functions=await self._offered(dialogue, body, toolbox),
                output_tokens=self._limits.output_tokens,
            )
            answer = await _Work(self._provider, self._limits, dialogue, turn, toolbox, meter, clock, progress).answer()
        answer = _without_wrapping(answer)
        dialogue.answered += 1
        dialogue.messages = [*dialogue.messages, *remembered(body, answer)][-MAX_REMEMBERED_MESSAGES:]
        return Answer(answer, usage=meter.report())

    def _dialogue(self, conversation: str, body: dict[str, Any]) -> _Dialogue:
        dialogue = self._dialogues.pop(conversation, None) or _Dialogue(system_text(body), time.monotonic())
        self._dialogues[conversation] = dialogue
        while len(self._dialogues) > MAX_CONVERSATIONS:
            self._dialogues.popitem(last=False)
        dialogue.urls = server_urls(body) or dialogue.urls
        return dialogue

    async def _offered(self, dialogue: _Dialogue, body: dict[str, Any], toolbox: Toolbox) -> list[dict[str, Any]]:
        if dialogue.tools_dropped:
            return []
        narrowed = is_trading(body) and dialogue.answered >= MESSAGES_WITH_ALL_TOOLS
        if narrowed and not dialogue.called:
            return []
        functions = await describe(toolbox, self._servers)
        return [item for item in functions if not narrowed or item["function"]["name"] in dialogue.called]


@dataclass
class _Work:
    """The work on one message."""

    provider: Provider
    limits: Limits
    dialogue: _Dialogue
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
                self.dialogue.called.add(requested.function.name)
                result = await call(requested.function.name, requested.function.arguments, self.toolbox)
                self.turn.add({"role": "tool", "tool_call_id": requested.id, "content": result})
        return (await self._ask(last=ANSWER_NOW)).content or ""

    def _is_spent(self) -> bool:
        return (self.meter.cost_usd or 0.0) >= self.limits.cost_usd

    async def _ask(self, *, last: str) -> Any:
        """Ask the model; where its context is full or it takes no tools, ask for less, and say so."""
        while True:
            began, had_tools = time.monotonic(), bool(self.turn.functions)
            request = self.turn.request(last=last or ("" if self.turn.functions else ANSWER_NOW))
            try:
                completion = await self.provider.complete(
                    output_tokens=self.turn.output_tokens, clock=self.clock, **request
                )
            except ContextFull as full:
                note = self.turn.shorten(full)
                self.dialogue.without_history |= bool(self.dialogue.messages) and not self.turn.has_history
            except ToolsRefused as refused:
                note = self.turn.drop_tools(f"because the endpoint refuses them ({refused})")
            else:
                break
            self.dialogue.tools_dropped |= had_tools and not self.turn.functions
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
