"""Read a market out of the text of a question: the underlying, quoted series, what is held, orders.

The result has the names that labelled data has. Rates and volatilities become continuous and yearly, dates become days.
What is not understood is left out.
"""

from __future__ import annotations

import math
import re
from datetime import date
from typing import Any

MONTHS = "January February March April May June July August September October November December".split()
_DAY = rf"(\d{{1,2}}) ({'|'.join(MONTHS)}) (\d{{4}})"
_SERIES = re.compile(r"(\d[\d.]*) (call|put)\b")
_AMOUNT = r"\$?([\d,]+(?:\.\d+)?)"
_ORDER = re.compile(
    r"\b(buy|sell) (\d+) (call|put)s on (\S+) struck at ([\d.]+) that expire on (\d{4}-\d\d-\d\d)", re.IGNORECASE
)
_CLOSE = re.compile(r"(\d{4}-\d\d-\d\d), close (\d+) of them")


def read_context(text: str) -> dict[str, Any]:
    """Return what a text tells; empty when it names neither a market nor an order."""
    order = _ORDER.search(text)
    if order is not None:
        return _read_order(order, text)
    spot = _first(r"(?:stands at|spot(?:: | is | )|trades at) ?\$([\d,.]*\d)", text)
    if spot is None:
        return {}
    context: dict[str, Any] = {"underlying": {"spot": spot, **_read_rates(text)}, **_read_sizes(text)}
    today = _read_day(text)
    options = [
        {"option_type": kind, "strike": float(strike), "days_to_expiry": days}
        for kind, strike, rest in re.findall(r"[Aa] (call|put) is struck at \$([\d.]+),? ([^\n]*)", text)
        if (days := _read_days(rest, today)) is not None
    ]
    quote = _first(rf"quoted at {_AMOUNT} a share", text)
    if len(options) == 1:
        context["option"] = options[0] | ({"price": quote} if quote is not None else {})
    elif options:
        context["options"] = options
    table = re.search(r"series[^\n]*:\n(.*?)(?:\n\n|$)", text, re.DOTALL)
    if table is not None:
        context["chain"] = _read_series(table.group(1), today)
    return context


def _first(pattern: str, text: str) -> float | None:
    match = re.search(pattern, text, re.IGNORECASE)
    return None if match is None else float(match.group(1).replace(",", ""))


def _read_rates(text: str) -> dict[str, float]:
    found: dict[str, float] = {}
    rate = re.search(
        r"(?:rate is|interest:|money costs) ([\d.]+)% a year(, compounded once a year)?", text, re.IGNORECASE
    )
    if rate is not None:
        value = float(rate.group(1)) / 100.0
        found["rate"] = math.log1p(value) if rate.group(2) else value
    dividends = _first(r"dividend yield(?: of|:)? ([\d.]+)%", text)
    if dividends is not None:
        found["dividend_yield"] = dividends / 100.0
    volatility = _read_volatility(re.sub(r"(?s)series[^\n]*:\n.*", "", text))
    return found if volatility is None else found | {"volatility": volatility}


def _read_volatility(text: str) -> float | None:
    match = re.search(r"volatility(?: of| was|:)? ([\d.]+)% a (year|trading day)", text, re.IGNORECASE)
    match = match or re.search(r"([\d.]+)% a (year|trading day)(?!\S* compounded)", text if "\n" not in text else "")
    if match is None:
        return None
    return float(match.group(1)) / 100.0 * (1.0 if match.group(2) == "year" else math.sqrt(252.0))


def _read_day(text: str) -> date | None:
    match = re.search(rf"close of {_DAY}", text)
    return None if match is None else _date(match)


def _date(match: re.Match[str]) -> date:
    return date(int(match.group(3)), MONTHS.index(match.group(2)) + 1, int(match.group(1)))


def _read_days(text: str, today: date | None) -> int | None:
    days = re.search(r"(\d+) days", text)
    if days is not None:
        return int(days.group(1))
    match = re.search(_DAY, text)
    return None if match is None or today is None else (_date(match) - today).days


def _read_series(table: str, today: date | None) -> list[dict[str, Any]]:
    rows, starts = [], [*_SERIES.finditer(table)]
    for place, start in enumerate(starts):
        piece = table[start.end() : starts[place + 1].start() if place + 1 < len(starts) else len(table)]
        days, price = _read_days(piece, today), _first(r"\$([\d,]+(?:\.\d+)?)", piece)
        if days is not None:
            row = {"option_type": start.group(2), "strike": float(start.group(1)), "days_to_expiry": days}
            told = {"price": price, "volatility": _read_volatility(piece.replace("\n", " "))}
            rows.append(row | {name: value for name, value in told.items() if value is not None})
    return rows


def _read_sizes(text: str) -> dict[str, float]:
    count = _first(r"(\d+) (?:of the )?(?:contracts|calls|puts|spreads|iron condors|condors|straddles)", text)
    if count is None:
        return {}
    sold = re.search(r"(?:sold|short|sale of|written|wrote) (?:\d+)|\d+ contracts (?:that were sold|written)", text)
    return {"contracts_sold" if sold and "A put is" not in text else "contracts": count}


def _read_order(order: re.Match[str], text: str) -> dict[str, Any]:
    days = sorted(re.findall(r"\d{4}-\d\d-\d\d", text.split("\n")[0]))
    cash = _first(r"\$([\d,]+)", text)
    if len(days) < 2 or cash is None or "close a third" in text:
        return {}
    return {
        "cash": cash,
        "start": days[0],
        "end": days[-1],
        "side": order.group(1).lower(),
        "contracts": int(order.group(2)),
        "option_type": order.group(3).lower(),
        "ticker": order.group(4),
        "strike": float(order.group(5)),
        "expiration": order.group(6),
        "closings": [{"day": day, "contracts": int(count)} for day, count in _CLOSE.findall(text)],
    }
