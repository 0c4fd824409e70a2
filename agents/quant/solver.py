"""Choose the way to answer a message by what it asks for."""

from __future__ import annotations

import json
import logging
from dataclasses import dataclass
from typing import Any

import analytical
import assignments
import attribution
import company
import declared_strategy
import event_order
import formula_list
import options_desk
import prices
import rehearsal
from mcp_toolbox import Toolbox, ToolFailure, server_urls
from message import read_message
from trading import Trader

MAX_CONVERSATIONS = 256
logger = logging.getLogger("agent")

WAYS = (
    analytical.answer,
    assignments.answer,
    declared_strategy.answer,
    attribution.answer,
    options_desk.answer,
    formula_list.answer,
    event_order.answer,
    company.answer,
    prices.answer,
)
"""Tried in this order; the first that has an answer wins."""


@dataclass
class Memory:
    """What is remembered of a conversation."""

    urls: dict[str, str]
    size_factor: float | None = None


class Solver:
    """The agent: one for all conversations."""

    def __init__(self) -> None:
        self._trader = Trader()
        self._memories: dict[str, Memory] = {}

    async def reply(self, text: str, conversation: str) -> str:
        """Return the reply to a message of a conversation."""
        body = read_message(text)
        memory = self._remember(conversation, body)
        async with Toolbox(dict(memory.urls)) as toolbox:
            if body.get("type") not in ("trading_decision", "trading_decisions"):
                return await _first_answer(body, toolbox)
            if memory.size_factor is None:
                memory.size_factor = await rehearsal.size_factor(str(body.get("as_of", "")), toolbox)
        return json.dumps(self._trader.reply(body, conversation, memory.size_factor))

    def _remember(self, conversation: str, body: dict[str, Any]) -> Memory:
        """Return what is known of a conversation; the tool addresses come with its first message only."""
        memory = self._memories.pop(conversation, None) or Memory(server_urls(body))
        self._memories[conversation] = memory
        while len(self._memories) > MAX_CONVERSATIONS:
            del self._memories[next(iter(self._memories))]
        return memory


async def _first_answer(body: dict[str, Any], toolbox: Toolbox) -> str:
    for way in WAYS:
        try:
            answer = await way(body, toolbox)
        except ToolFailure as failure:
            logger.warning("%s: %s", way.__module__, failure)
            continue
        except (LookupError, TypeError, ValueError, ArithmeticError):
            # A question in a shape that this way does not expect; another way may understand it.
            logger.exception("%s does not understand the question", way.__module__)
            continue
        if answer is not None:
            return answer
    return "I do not know."
