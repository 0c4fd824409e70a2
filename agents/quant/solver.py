"""Choose the way to answer a message by what it asks for."""

from __future__ import annotations

import json
import logging
from typing import Any

from market_learner import Learner
from mcp_toolbox import Toolbox, ToolFailure, server_urls

from assignments import reply as assignments
from debate import Debater
from desks import attribution, case_desk, declared_strategy, options_desk, traded_option
from desks.trading import Trader
from questions import analytical, company, event_order, formula_list, prices
from reading.message import read_message

logger = logging.getLogger("agent")

WAYS = (
    analytical.answer,
    assignments.answer,
    declared_strategy.answer,
    traded_option.answer,
    attribution.answer,
    options_desk.answer,
    formula_list.answer,
    event_order.answer,
    company.answer,
    prices.answer,
    case_desk.answer,
)
"""Tried in this order; the first that has an answer wins."""


class Solver:
    """The agent: one for all conversations."""

    def __init__(self) -> None:
        self._trader = Trader()
        self._learner = Learner()
        self._debater = Debater()

    async def reply(self, text: str, conversation: str) -> str:
        """Return the reply to a message of a conversation."""
        body = read_message(text)
        if Learner.understands(body):
            return json.dumps(self._learner.reply(body, conversation))
        if body.get("type") == "trading_decision":
            return json.dumps(self._trader.reply(body, conversation))
        if body.get("type") == "debate":
            return await self._debater.rebut(body, conversation)
        async with Toolbox(server_urls(body)) as toolbox:
            answer = await _first_answer(body, toolbox)
        self._debater.keep(body, answer, conversation)
        return answer


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
