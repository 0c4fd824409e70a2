"""Hold a debate: stand by an answer that came from rules, and prove the rules on the check question."""

from __future__ import annotations

import copy
import json
import re
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from typing import Any

from mcp_toolbox import Toolbox, ToolFailure, server_urls

from desks.position import Leg, Underlying, quote
from questions import analytical, company, formula_list
from reading.message import context_of

MAX_CONVERSATIONS = 256
_NUMBER = r"(-?[\d,]+(?:\.\d+)?)"
_SCALES = {"million": 1e6, "billion": 1e9}


class Debater:
    """What was answered in the latest conversations, and the rebuttals."""

    def __init__(self) -> None:
        self._answered: OrderedDict[str, tuple[dict[str, Any], str]] = OrderedDict()

    def keep(self, body: dict[str, Any], answer: str, conversation: str) -> None:
        """Remember an answer."""
        self._answered[conversation] = body, answer
        while len(self._answered) > MAX_CONVERSATIONS:
            self._answered.popitem(last=False)

    async def rebut(self, message: dict[str, Any], conversation: str) -> str:
        """Return the rebuttal: the same rules give the same answer, so it stays; the check is worked out anew."""
        body, answer = self._answered.get(conversation, ({}, ""))
        rebuttal: dict[str, Any] = {"restated": answer}
        question = str(message.get("check_question", ""))
        async with Toolbox(server_urls(body)) as toolbox:
            for way in (_with_another_input, _on_other_accounts, _option, _filed_figure, _close):
                try:
                    check = await way(question, body, toolbox)
                except (ToolFailure, LookupError, TypeError, ValueError, ArithmeticError):
                    continue
                if check is not None:
                    rebuttal["check"] = check
                    break
        return json.dumps(rebuttal)


Way = Callable[[str, dict[str, Any], Toolbox], Awaitable[str | float | None]]


async def _with_another_input(question: str, body: dict[str, Any], toolbox: Toolbox) -> str | float | None:
    """Answer the task again with one of its listed inputs changed."""
    match = re.search(rf"\bif (\w+) \(.*\) were \$?{_NUMBER}(%?)(?: (million|billion))?, ", question)
    inputs = context_of(body).get("inputs")
    if match is None or not isinstance(inputs, dict) or match[1] not in inputs:
        return None
    value = _value(match[2]) * _SCALES.get(match[4] or "", 1.0) / (100.0 if match[3] else 1.0)
    changed = copy.deepcopy(body)
    read = {item.name: item for item in analytical.given_quantities(body)}
    changed["context"]["inputs"] = {
        name: {"value": value if name == match[1] else item.value, "meaning": item.meaning}
        for name, item in read.items()
    }
    reply = await analytical.answer(changed, toolbox)
    return None if reply is None else json.loads(reply).get("answer")


async def _on_other_accounts(question: str, body: dict[str, Any], toolbox: Toolbox) -> str | float | None:
    """Compute from the formula list and the table that the check question brings."""
    return _stated(await formula_list.answer(body | {"question": question}, toolbox))


async def _option(question: str, body: dict[str, Any], toolbox: Toolbox) -> str | float | None:
    """Ask the pricing tool for the option's value, delta or vega."""
    match = re.search(
        rf"European (call|put) struck at \${_NUMBER} expires in (\d+) days, on a stock at \${_NUMBER}, with a rate of "
        rf"{_NUMBER}%, a dividend yield of {_NUMBER}% and a volatility of {_NUMBER}%; what is its (value|delta|vega)",
        question,
    )
    if match is None:
        return None
    strike, spot, rate, dividends, volatility = (_value(match[place]) for place in (2, 4, 5, 6, 7))
    leg = Leg(match[1], 1.0, strike=strike, days_to_expiry=float(match[3]))
    market = Underlying(spot, rate / 100.0, dividends / 100.0, volatility / 100.0)
    result = await quote(leg, market, toolbox)
    return float(result[{"value": "price", "delta": "delta", "vega": "vega_per_point"}[match[8]]])


async def _filed_figure(question: str, body: dict[str, Any], toolbox: Toolbox) -> str | float | None:
    """Look the other line of the company's accounts up."""
    return _stated(await company.answer({"question": question}, toolbox))


async def _close(question: str, body: dict[str, Any], toolbox: Toolbox) -> str | float | None:
    """Look the close of the day up."""
    match = re.search(r"closing price of (\S+) on (\d{4}-\d{2}-\d{2})", question)
    if match is None:
        return None
    day = match[2]
    history = await toolbox.call("yfinance", "get_price_history", ticker=match[1], start=day, end=day)
    return float(history["close"][0])


def _stated(reply: str | None) -> str | None:
    return None if reply is None else reply.rsplit("Final answer: ", 1)[-1]


def _value(text: str) -> float:
    return float(text.replace(",", ""))
