"""Split the profit of an option position by its Greeks: a Taylor expansion to second order in the spot."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from mcp_toolbox import Toolbox

from reading.calculator import evaluate_all
from reading.message import context_of
from reading.schema import asked_figures, put

SHARES_A_CONTRACT = 100.0
PARTS: Mapping[str, str] = {
    "total": "shares * (price_after - price_before)",
    "delta_pnl": "shares * delta * move",
    "gamma_pnl": "shares * 0.5 * gamma * move ^ 2",
    "theta_pnl": "shares * theta * days",
    "vega_pnl": "shares * vega * volatility_points",
    "unexplained": (
        "shares * (price_after - price_before - delta * move - 0.5 * gamma * move ^ 2 - theta * days"
        " - vega * volatility_points)"
    ),
    "position_delta": "shares * delta",
    "position_gamma": "shares * gamma",
    "position_theta_per_day": "shares * theta",
    "position_vega_per_point": "shares * vega",
}


async def answer(body: dict[str, Any], toolbox: Toolbox) -> str | None:
    """Return the reply as JSON; None when the question does not give Greeks and the prices before and after."""
    schema, values = body.get("answer_schema"), read_values(context_of(body))
    if not isinstance(schema, dict) or values is None:
        return None
    paths = {path: PARTS[path[-1]] for path in asked_figures(schema) if path[-1] in PARTS}
    results = await evaluate_all({".".join(path): formula for path, formula in paths.items()}, values, toolbox)
    reply: dict[str, Any] = {}
    for path in paths:
        if ".".join(path) in results:
            put(reply, path, results[".".join(path)])
    return json.dumps(reply) if reply else None


def read_values(context: dict[str, Any]) -> dict[str, float] | None:
    """Return the variables of the expansion; None when one of them is not given."""
    try:
        before, after, greeks = context["before"], context["after"], context["greeks_per_share"]
        return {
            "shares": float(context["contracts"]) * SHARES_A_CONTRACT,
            "price_before": float(before["price"]),
            "price_after": float(after["price"]),
            "move": float(after["spot"]) - float(before["spot"]),
            "days": float(context["days_passed"]),
            "volatility_points": float(context["volatility_change_points"]),
            "delta": float(greeks["delta"]),
            "gamma": float(greeks["gamma"]),
            "theta": float(greeks["theta_per_day"]),
            "vega": float(greeks["vega_per_point"]),
        }
    except (KeyError, TypeError, ValueError):
        return None
