"""Answer questions about share prices between two dates from the market data tools."""

from __future__ import annotations

import itertools
import math
import re
from typing import Any

from mcp_toolbox import Toolbox

from questions.company import written
from reading.message import final_answer, wants_json

TRADING_DAYS_A_YEAR = 252


async def answer(body: dict[str, Any], toolbox: Toolbox) -> str | None:
    """Return the reply to a question about prices; None when it is none, or none that is understood."""
    text = str(body.get("question", "")).split("\n\nEnd your reply")[0]
    dates = re.findall(r"\b\d{4}-\d{2}-\d{2}\b", text)
    if len(dates) < 2 or "clos" not in text or wants_json(body):
        return None
    known = (await toolbox.call("yfinance", "list_tickers"))["ticker"]
    tickers = sorted((name for name in known if _mentions(text, name)), key=lambda name: _place(text, name))
    if not tickers:
        return None
    series = []
    for ticker in tickers[:2]:
        history = await toolbox.call("yfinance", "get_price_history", ticker=ticker, start=dates[0], end=dates[1])
        series.append([float(close) for close in history["close"]])
    result = measure(text.lower(), series)
    return None if result is None else final_answer(written(result, str(body.get("answer_format", ""))))


def _place(text: str, ticker: str) -> int:
    match = re.search(rf"(?<![\w-]){re.escape(ticker)}(?![\w-])", text)
    return match.start() if match else len(text)


def _mentions(text: str, ticker: str) -> bool:
    return _place(text, ticker) < len(text)


def measure(text: str, series: list[list[float]]) -> float | None:
    """Return the figure that the words of ``text`` name, of one or two series of closes; None when it names none."""
    closes = series[0]
    if len(series) == 2 and "correlat" in text:
        return correlation(log_returns(series[0]), log_returns(series[1]))
    if len(series) == 2 and re.search(r"\bbeta\b", text):
        own, market = log_returns(series[0]), log_returns(series[1])
        return covariance(own, market) / covariance(market, market)
    if len(series) == 2 and "return" in text:
        return total_return(series[0]) - total_return(series[1])
    if re.search(r"volatility|deviation", text):
        returns = log_returns(closes)
        return math.sqrt(covariance(returns, returns) * TRADING_DAYS_A_YEAR)
    if re.search(r"drawdown|(?:deepest|largest) (?:fall|loss)", text):
        return drawdown(closes)
    return total_return(closes) if re.search(r"return|percentage change|gain", text) else None


def total_return(closes: list[float]) -> float:
    """Return last over first, less one."""
    return closes[-1] / closes[0] - 1.0


def log_returns(closes: list[float]) -> list[float]:
    """Return the logarithm of each close over the one before."""
    return [math.log(after / before) for before, after in itertools.pairwise(closes)]


def drawdown(closes: list[float]) -> float:
    """Return the largest fall from a running maximum, as a positive fraction."""
    peaks = itertools.accumulate(closes, max)
    return max(1.0 - close / peak for close, peak in zip(closes, peaks, strict=True))


def covariance(first: list[float], second: list[float]) -> float:
    """Return the sample covariance (n - 1)."""
    means = sum(first) / len(first), sum(second) / len(second)
    products = [(x - means[0]) * (y - means[1]) for x, y in zip(first, second, strict=True)]
    return sum(products) / (len(products) - 1)


def correlation(first: list[float], second: list[float]) -> float:
    """Return the sample correlation."""
    return covariance(first, second) / math.sqrt(covariance(first, first) * covariance(second, second))
