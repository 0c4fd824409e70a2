"""Portfolios: trades to target weights, Greeks of an option book, value at risk from fetched prices."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from mcp_toolbox import Toolbox

from assignments.deliverables import Work
from desks.position import Underlying, greeks, read_leg
from questions import prices

NORMAL_99 = 2.3263478740408408
NORMAL_DENSITY_99 = 0.026652142203457865
BASIS_POINT = 1e-4


async def rebalancing(context: Mapping[str, Any], toolbox: Toolbox) -> Work | None:
    """Return the trades in whole shares that bring each line to its target weight."""
    lines = context.get("holdings")
    if not isinstance(lines, list) or not all({"shares", "price", "target_weight"} <= set(line) for line in lines):
        return None
    cash, fee = float(context.get("cash", 0.0)), float(context.get("fee_bps", 0.0)) * BASIS_POINT
    total = cash + sum(line["shares"] * line["price"] for line in lines)
    trades = [math.floor(line["target_weight"] * total / line["price"]) - line["shares"] for line in lines]
    values = [trade * line["price"] for trade, line in zip(trades, lines, strict=True)]
    costs = [abs(value) * fee for value in values]
    return Work(
        columns={
            "ticker": [line["ticker"] for line in lines],
            "trade_shares": trades,
            "trade_value": values,
            "cost": costs,
        },
        figures={
            "Net asset value": total,
            "Turnover": sum(map(abs, values)) / total,
            "Trading cost": sum(costs),
            "Cash after trading": cash - sum(values) - sum(costs),
        },
    )


async def option_book(context: Mapping[str, Any], toolbox: Toolbox) -> Work | None:
    """Return value and Greeks of each position, by the risk server."""
    rows = context.get("positions")
    if not isinstance(rows, list) or "spot" not in context or not all("option_type" in row for row in rows):
        return None
    market = Underlying(
        float(context["spot"]), float(context.get("rate", 0.0)), float(context.get("dividend_yield", 0.0)), None
    )
    result = await greeks([read_leg(row) for row in rows], market, toolbox)
    vega = [value / 100.0 for value in result["position_vega"]]
    return Work(
        columns={
            "position": [row["position"] for row in rows],
            "value": result["position_value"],
            "delta": result["position_delta"],
            "gamma": result["position_gamma"],
            "vega": vega,
        },
        figures={
            "Book value": result["value"],
            "Net delta": result["delta"],
            "Net gamma": result["gamma"],
            "Net vega": result["vega_per_point"],
            "Hedge trade": float(-round(result["delta"])),
        },
    )


async def value_at_risk(context: Mapping[str, Any], toolbox: Toolbox) -> Work | None:
    """Return the delta-normal value at risk of shares, 99% and one day, from fetched closes."""
    lines, first, last = (context.get(name) for name in ("holdings", "first_close", "last_close"))
    if not isinstance(lines, list) or not isinstance(first, str) or not isinstance(last, str):
        return None
    lines = sorted(lines, key=lambda line: str(line["ticker"]))
    closes = []
    for line in lines:
        history = await toolbox.call("yfinance", "get_price_history", ticker=line["ticker"], start=first, end=last)
        closes.append([float(close) for close in history["close"]])
    values = [line["shares"] * series[-1] for line, series in zip(lines, closes, strict=True)]
    returns = [prices.log_returns(series) for series in closes]
    covariances = [
        [prices.covariance(mine, other) * value for other, value in zip(returns, values, strict=True)]
        for mine in returns
    ]
    shares = [value * sum(row) for value, row in zip(values, covariances, strict=True)]
    deviation = math.sqrt(sum(shares))
    alone = [
        NORMAL_99 * value * math.sqrt(prices.covariance(series, series))
        for value, series in zip(values, returns, strict=True)
    ]
    risk = NORMAL_99 * deviation
    return Work(
        columns={
            "ticker": [str(line["ticker"]) for line in lines],
            "value": values,
            "annual_volatility": [
                math.sqrt(prices.covariance(series, series) * prices.TRADING_DAYS_A_YEAR) for series in returns
            ],
            "component_var": [NORMAL_99 * share / deviation for share in shares],
        },
        figures={
            "Portfolio value": sum(values),
            "Value at risk": risk,
            "Expected shortfall": deviation * NORMAL_DENSITY_99 / 0.01,
            "Diversification benefit": sum(alone) - risk,
        },
    )
