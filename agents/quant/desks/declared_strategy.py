"""Declare the trend rule of this agent as a strategy, where a question asks for one instead of decisions."""

from __future__ import annotations

import json
from typing import Any

from mcp_toolbox import Toolbox

from desks.trading import FAST_BARS, MAX_SIZE, SLOW_BARS

RULES = ("enter_long", "exit_long", "enter_short", "exit_short")
WEAK_TREND_ADX = 20.0


def _when(left: str, op: str, right: str | float) -> dict[str, Any]:
    return {"left": left, "op": op, "right": right}


STRATEGY: dict[str, Any] = {
    "indicators": {
        "fast": {"type": "ema", "window": FAST_BARS},
        "slow": {"type": "ema", "window": SLOW_BARS},
        "strength": {"type": "adx", "window": 14},
    },
    "enter_long": [_when("fast", ">", "slow"), _when("strength.adx", ">", WEAK_TREND_ADX)],
    "exit_long": [_when("fast", "<", "slow")],
    "enter_short": [_when("fast", "<", "slow"), _when("strength.adx", ">", WEAK_TREND_ADX)],
    "exit_short": [_when("fast", ">", "slow")],
    "size": MAX_SIZE,
}


async def answer(body: dict[str, Any], toolbox: Toolbox) -> str | None:
    """Return the strategy; None when the answer schema is not one of a strategy with indicators of these types."""
    schema = body.get("answer_schema")
    properties = schema.get("properties", {}) if isinstance(schema, dict) else {}
    if not {"indicators", "size", *RULES} <= set(properties):
        return None
    offered = properties["indicators"]["additionalProperties"]["properties"]["type"]["enum"]
    used = {indicator["type"] for indicator in STRATEGY["indicators"].values()}
    return json.dumps(STRATEGY) if used <= set(offered) else None
