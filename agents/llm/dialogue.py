"""The loop between model and tools, with its limits and its meter."""

from __future__ import annotations

import json
import re
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Any

from a2a_service import Answer, Progress, Usage
from functions import call, describe
from mcp_toolbox import Toolbox, server_urls
from prompt import ANSWER_NOW, SYSTEM, user_text
from provider import Provider

MAX_CONVERSATIONS = 256
MAX_REMEMBERED_MESSAGES = 20
_FENCE = re.compile(r"\A```(?:json)?\s*\n(.*)\n```\s*\Z", re.DOTALL)


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
    """

    model_calls: int
    cost_usd: float
    output_tokens: int


@dataclass(frozen=True)
class Prices:
    """US dollars per million tokens; None where they are unknown."""

    input_usd: float | None
    output_usd: float | None


@dataclass
class Meter:
    """Tokens and money that one message has used."""

    prices: Prices
    input_tokens: int = 0
    output_tokens: int = 0
    complete: bool = True

    def add(self, usage: Any) -> None:
        """Count the usage that the endpoint reported; where it reports none (None), the cost is unknown."""
        self.complete = self.complete and usage is not None
        self.input_tokens += getattr(usage, "prompt_tokens", 0) or 0
        self.output_tokens += getattr(usage, "completion_tokens", 0) or 0

    @property
    def cost_usd(self) -> float | None:
        """US dollars so far; None where they are unknown."""
        if self.prices.input_usd is None or self.prices.output_usd is None or not self.complete:
            return None
        return (self.input_tokens * self.prices.input_usd + self.output_tokens * self.prices.output_usd) / 1e6

    def report(self) -> Usage:
        """Return the usage as A2A metadata."""
        return {"input_tokens": self.input_tokens, "output_tokens": self.output_tokens, "cost_usd": self.cost_usd}


@dataclass
class _Dialogue:
    """What is remembered of one conversation: its texts without the tool calls in between, and the tool addresses."""

    urls: dict[str, str] = field(default_factory=dict)
    messages: list[dict[str, Any]] = field(default_factory=list)


class Dialogues:
    """All conversations of this agent; the longest unused are forgotten first."""

    def __init__(self, provider: Provider, *, limits: Limits, prices: Prices) -> None:
        self._provider = provider
        self._limits = limits
        self._prices = prices
        self._dialogues: OrderedDict[str, _Dialogue] = OrderedDict()

    async def reply(self, text: str, conversation: str, progress: Progress) -> Answer:
        """Answer one message of a conversation; ``progress.usage`` is what it has used, whether it ends well or not."""
        body = _read(text)
        dialogue = self._dialogues.pop(conversation, _Dialogue())
        self._dialogues[conversation] = dialogue
        while len(self._dialogues) > MAX_CONVERSATIONS:
            self._dialogues.popitem(last=False)
        dialogue.urls = server_urls(body) or dialogue.urls
        question = {"role": "user", "content": user_text(body)}
        meter = Meter(self._prices)
        progress.usage = meter.report()
        async with Toolbox(dict(dialogue.urls)) as toolbox:
            history = dialogue.messages[-MAX_REMEMBERED_MESSAGES:]
            messages: list[dict[str, Any]] = [{"role": "system", "content": SYSTEM}, *history, question]
            answer = await self._work(messages, await describe(toolbox), toolbox, meter, progress)
        dialogue.messages = [*history, question, {"role": "assistant", "content": answer}]
        return Answer(_without_fence(answer), usage=meter.report())

    async def _work(
        self,
        messages: list[dict[str, Any]],
        functions: list[dict[str, Any]],
        toolbox: Toolbox,
        meter: Meter,
        progress: Progress,
    ) -> str:
        """Let the model call tools until it answers or a limit is met; then it has to answer."""
        for _ in range(self._limits.model_calls - 1):
            if not functions or (meter.cost_usd or 0.0) >= self._limits.cost_usd:
                break
            said = await self._ask(messages, functions, meter, progress)
            if not said.tool_calls:
                return said.content or ""
            messages.append(said.model_dump(exclude_none=True))
            for requested in said.tool_calls:
                result = await call(requested.function.name, requested.function.arguments, toolbox)
                messages.append({"role": "tool", "tool_call_id": requested.id, "content": result})
        if messages[-1]["role"] == "tool":
            messages.append({"role": "user", "content": ANSWER_NOW})
        return (await self._ask(messages, [], meter, progress)).content or ""

    async def _ask(
        self, messages: list[dict[str, Any]], functions: list[dict[str, Any]], meter: Meter, progress: Progress
    ) -> Any:
        request: dict[str, Any] = {"messages": messages}
        if functions:
            request["tools"] = functions
        if self._limits.output_tokens:
            request["max_completion_tokens"] = self._limits.output_tokens
        completion = await self._provider.complete(**request)
        meter.add(completion.usage)
        progress.usage = meter.report()
        return completion.choices[0].message


def _read(text: str) -> dict[str, Any]:
    try:
        body = json.loads(text)
    except ValueError:
        body = None
    return body if isinstance(body, dict) else {"question": text}


def _without_fence(answer: str) -> str:
    """Return the answer without a Markdown fence around the whole of it."""
    fenced = _FENCE.match(answer.strip())
    return fenced.group(1) if fenced else answer
