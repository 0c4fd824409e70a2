"""An option traded on the paper account: carried out, its profit by Greek, what is left measured and hedged."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from datetime import date
from typing import Any, TypeAlias

from mcp_toolbox import Toolbox

from desks.position import Leg, Underlying, greeks, implied_volatility, quote
from reading.message import context_of
from reading.schema import asked_figures, put

Row: TypeAlias = Mapping[str, Any]
TERMS = ("ticker", "side", "option_type", "strike", "expiration")
KEYS = {"cash", "start", "end", "contracts", *TERMS}
_FALL = re.compile(r"falls by ([\d.]+)% and volatility rises by ([\d.]+) points")


async def answer(body: dict[str, Any], toolbox: Toolbox) -> str | None:
    """Return the reply as JSON; None when the question gives no option to trade, or the order was not filled."""
    schema, context = body.get("answer_schema"), context_of(body)
    if not isinstance(schema, dict) or not set(context) >= KEYS:
        return None
    account = await _trade(context, toolbox)
    orders = await toolbox.call("trading", "list_orders")
    if set(orders["state"]) != {"filled"}:
        return None
    asked = asked_figures(schema)
    figures = await _measured(context, account, " ".join(asked.values()), toolbox)
    sources = await toolbox.call("trading", "get_profit_by_source")
    figures |= {f"{name}_pnl": sources[name][0] for name in ("delta", "gamma", "theta", "vega")}
    figures |= {
        "fill_price": orders["fill_price"][0],
        "total": account["profit_and_loss"],
        "margin": (await toolbox.call("trading", "get_margin"))["initial"],
    }
    reply: dict[str, Any] = {}
    for path in asked:
        if path[-1] in figures:
            put(reply, path, figures[path[-1]])
    put(reply, ("strategy", "legs"), [Leg("stock", -round(figures["delta"])).written()])
    return json.dumps(reply)


async def _trade(context: Row, toolbox: Toolbox) -> Row:
    """Open the account, place the orders, let time pass, and return the account as it then is."""
    await toolbox.call("trading", "open_account", cash=float(context["cash"]), start=context["start"])
    terms = {name: context[name] for name in TERMS}
    quantity = float(context["contracts"])
    await toolbox.call("trading", "place_order", client_order_id="option", quantity=quantity, **terms)
    back = {"side": "sell" if terms["side"] == "buy" else "buy"}
    for row, part in enumerate(context.get("closings", [])):
        await toolbox.call("trading", "advance", to=part["day"])
        order = terms | back | {"client_order_id": f"closing {row}", "quantity": float(part["contracts"])}
        await toolbox.call("trading", "place_order", **order)
    return await toolbox.call("trading", "advance", to=context["end"])


async def _measured(context: Row, account: Row, words: str, toolbox: Toolbox) -> dict[str, float]:
    """Return the Greeks of the options that are held, and what a fall does to them and to their hedge."""
    chain = await toolbox.call("options", "get_options_chain", ticker=context["ticker"])
    days = (date.fromisoformat(context["expiration"]) - date.fromisoformat(context["end"])).days
    market = Underlying(float(chain["spot"]), float(chain["rate"]), float(chain["dividend_yield"]), None)
    mid, contracts = float(account["last_price"][0]), float(account["shares"][0])
    held = Leg(str(context["option_type"]), contracts, float(context["strike"]), float(days), mid)
    held = replace(held, volatility=await implied_volatility(held, market, toolbox))
    found = {name: float(value) for name, value in (await greeks([held], market, toolbox)).items() if _number(value)}
    if (shock := _FALL.search(words)) is not None:
        fall, rise = (float(text) / 100.0 for text in shock.groups())
        fallen = replace(market, spot=market.spot * (1.0 - fall))
        after = await quote(held, fallen, toolbox, volatility=(held.volatility or 0.0) + rise)
        found["profit_in_fall"] = held.shares * (float(after["price"]) - mid)
        found["hedged_in_fall"] = found["profit_in_fall"] + round(found["delta"]) * fall * market.spot
    return found


def _number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
