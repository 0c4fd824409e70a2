"""What each reference agent replies: pure functions from the message text to the reply text."""

from __future__ import annotations

import hashlib
import json
import random
import re
from collections.abc import Callable
from typing import Any

from random_answer import sample

HOLD = {
    "action": "HOLD",
    "size": 0.0,
    "stop_loss": None,
    "take_profit": None,
    "confidence": 0.0,
    "reasoning": "no view",
}
KEYWORD_TEXT = (
    "Revenue, gross margin, EBITDA, free cash flow, net present value, WACC, CAGR, P/E ratio, diversification, "
    "hedging, Black-Scholes, implied volatility, delta, gamma, theta, vega, bull call spread, iron condor, maximum "
    "profit, maximum loss, breakeven, value at risk, expected shortfall, Sharpe ratio, risk management, position "
    "sizing, stop loss, 10-K, 10-Q, beat, miss, inflation, interest rates, momentum, mean reversion. "
    "The answer is as calculated."
)
ADDRESS_KEYS = frozenset({"mcp_servers", "as_of", "task_id"})


def read_message(text: str) -> dict[str, Any]:
    """Return the message body; plain text counts as a question."""
    try:
        body = json.loads(text)
    except ValueError:
        body = None
    return body if isinstance(body, dict) else {"type": "question", "question": text}


def decide(body: dict[str, Any], decision: Callable[[dict[str, Any]], dict[str, Any]]) -> str | None:
    """Return the reply to a trading message, one decision an episode; None when the message is no trading message."""
    if body.get("type") == "trading_decision":
        return json.dumps(decision(body.get("state", {})))
    if body.get("type") == "trading_decisions":
        decisions = [{"episode": name, **decision({})} for name in body.get("episodes", {})]
        return json.dumps({"decisions": decisions})
    return None


def null(text: str) -> str:
    """Say nothing and never trade."""
    return decide(read_message(text), lambda state: HOLD) or " "


def echo(text: str) -> str:
    """Give the message back."""
    return text


def keyword(text: str) -> str:
    """Say the same finance vocabulary to everything, in every field."""
    return KEYWORD_TEXT


def fixed(text: str) -> str:
    """Never reached: the program answers with its ``--text``."""
    return text


def guess(text: str) -> str:
    """Guess in the right format. The guess depends on the question alone, so a repeated run repeats it."""
    body = read_message(text)
    draw = random.Random(_question_digest(body))
    traded = decide(body, lambda state: _random_decision(draw))
    if traded is not None:
        return traded
    schema = body.get("answer_schema")
    if isinstance(schema, dict):
        return json.dumps(sample(schema, draw))
    return f"Final answer: {_guess_in_words(body, draw)}"


def _guess_in_words(body: dict[str, Any], draw: random.Random) -> str:
    """Return a guess of the kind that the answer format names between angle brackets."""
    asked = re.search(r"<([^>]+)>", str(body.get("answer_format", "")))
    kind = asked.group(1) if asked else "number"
    if "percentage" in kind:
        return f"{draw.uniform(-50.0, 50.0):.2f}%"
    if "item numbers" in kind:
        items = re.findall(r"^(\d+)\.\s", str(body.get("question", "")), re.MULTILINE)
        return ",".join(draw.sample(items, len(items)))
    if "date" in kind:
        return f"{draw.randint(2005, 2025)}-{draw.randint(1, 12):02d}-{draw.randint(1, 28):02d}"
    if "accession" in kind:
        return f"{draw.randint(1, 2_000_000):010d}-{draw.randint(5, 25):02d}-{draw.randint(1, 200_000):06d}"
    return f"{10.0 ** draw.uniform(-2.0, 11.0):.4f}"


def _question_digest(body: dict[str, Any]) -> str:
    """Return a digest of what is asked, without the addresses and tokens that differ between runs."""
    asked = {key: value for key, value in body.items() if key not in ADDRESS_KEYS and not (key.startswith("MCP_"))}
    return hashlib.sha256(json.dumps(asked, sort_keys=True).encode()).hexdigest()


def _random_decision(draw: random.Random) -> dict[str, Any]:
    return {
        "action": draw.choice(["BUY", "SELL", "HOLD", "CLOSE"]),
        "size": round(draw.uniform(0.0, 1.0), 4),
        "stop_loss": None,
        "take_profit": None,
        "confidence": round(draw.uniform(0.0, 1.0), 4),
        "reasoning": "a coin was thrown",
    }


KINDS: dict[str, Callable[[str], str]] = {
    "null": null,
    "echo": echo,
    "keyword": keyword,
    "random": guess,
    "fixed": fixed,
}
