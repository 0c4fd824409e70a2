"""Try the trend rule on paper before trading it: the paper account and daily prices up to the simulation date.

A rule that lost on paper after costs is traded at half the size.
"""

from __future__ import annotations

from datetime import date, timedelta

from mcp_toolbox import Toolbox, ToolFailure
from trading import trend_strength

HISTORY_DAYS = 240
REHEARSAL_DAYS = 60
CASH = 100_000.0
SIZE_AFTER_LOSS = 0.5


async def size_factor(as_of: str, toolbox: Toolbox) -> float:
    """Return the factor for all sizes: 1, or less when the rehearsal lost; 1 when it cannot be held."""
    try:
        return SIZE_AFTER_LOSS if await rehearse(date.fromisoformat(as_of), toolbox) < 0.0 else 1.0
    except (ToolFailure, ValueError, KeyError):
        return 1.0


async def rehearse(as_of: date, toolbox: Toolbox) -> float:
    """Return the total return of following, for some weeks before ``as_of``, the trend at their beginning.

    Raises
    ------
    ToolFailure
        When a tool refuses, or no ticker has prices up to these days.
    """
    start = as_of - timedelta(days=REHEARSAL_DAYS)
    ticker = await _listed_ticker(start, toolbox)
    history = await toolbox.call(
        "yfinance",
        "get_price_history",
        ticker=ticker,
        start=(start - timedelta(days=HISTORY_DAYS)).isoformat(),
        end=start.isoformat(),
    )
    closes = [float(close) for close in history["close"]]
    await toolbox.call("trading", "open_account", cash=CASH, start=start.isoformat())
    await toolbox.call(
        "trading",
        "place_order",
        client_order_id="rehearsal",
        ticker=ticker,
        side="buy" if trend_strength(closes) > 0.0 else "sell",
        quantity=float(int(0.9 * CASH / closes[-1])),
    )
    await toolbox.call("trading", "advance", to=as_of.isoformat())
    return float((await toolbox.call("trading", "get_performance"))["total_return"])


async def _listed_ticker(start: date, toolbox: Toolbox) -> str:
    """Return the broadest ticker with prices from well before ``start`` to the present."""
    known = await toolbox.call("yfinance", "list_tickers")
    rows = zip(known["ticker"], known["first_date"], known["last_date"], strict=True)
    early = (start - timedelta(days=HISTORY_DAYS)).isoformat()
    fitting = sorted(str(name) for name, first, last in rows if str(first) <= early and str(last) > start.isoformat())
    index = next((name for name in fitting if "INDEX" in name), None)
    if not fitting:
        raise ToolFailure(f"no ticker has prices from {early} to after {start}")
    return index or fitting[0]
