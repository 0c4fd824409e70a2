"""The second route of ``traded_option``: its order, played on the trading simulator."""

from __future__ import annotations

import json
from datetime import date

import anyio
from mcp import Client
from scipy.optimize import brentq

from mcp_servers import caller, trading
from mcp_servers import options as options_server
from mcp_servers.access import Grant
from tests.evaluators.options.second_routes.market import Market


async def _played(context):
    """Carry the order out on the real trading simulator; return its account, orders, sources, margin and the rate."""
    as_of, terms = date.fromisoformat(context["end"]), ("ticker", "side", "option_type", "strike", "expiration")
    with caller.acting_as(Grant("run", json.dumps(context), as_of, 0)):
        async with Client(trading.build_server()) as desk, Client(options_server.build_server()) as chains:

            async def ask(client, tool, **arguments):
                result = await client.call_tool(tool, arguments)
                assert not result.is_error, result.content[0].text
                return result.structured_content

            await ask(desk, "open_account", cash=context["cash"], start=context["start"])
            order = {name: context[name] for name in terms} | {"quantity": context["contracts"]}
            await ask(desk, "place_order", client_order_id="a", **order)
            for row, part in enumerate(context["closings"]):
                await ask(desk, "advance", to=part["day"])
                back = {"side": "sell" if order["side"] == "buy" else "buy", "quantity": part["contracts"]}
                await ask(desk, "place_order", client_order_id=f"c{row}", **(order | back))
            state = await ask(desk, "advance", to=context["end"])
            told = [await ask(desk, tool) for tool in ("list_orders", "get_profit_by_source", "get_margin")]
            return state, *told, await ask(chains, "get_options_chain", ticker=context["ticker"])


def traded_option(context, legs):
    state, orders, sources, margin, chain = anyio.run(_played, context)
    assert set(orders["state"]) == {"filled"} and state["liquidations"] == 0
    days = (date.fromisoformat(context["expiration"]) - date.fromisoformat(context["end"])).days
    kind, strike, mid = context["option_type"], context["strike"], state["last_price"][0]
    market = Market({"underlying": {"spot": chain["spot"], "rate": chain["rate"], "dividend_yield": 0.0}})
    volatility = brentq(lambda level: market.value(kind, strike, days, level) - mid, 1e-4, 5.0, xtol=1e-13)
    shares = 100 * state["shares"][0]
    delta, gamma, theta, vega, _ = shares * market.greeks(kind, strike, days, volatility)
    fallen = Market(
        {"underlying": {"spot": chain["spot"], "rate": chain["rate"], "dividend_yield": 0.0}},
        move=-0.1,
        volatility_change=0.05,
    )
    fall = shares * (fallen.value(kind, strike, days, volatility) - mid)
    return {
        "fill_price": orders["fill_price"][0],
        "total": state["profit_and_loss"],
        **{f"{name}_pnl": sources[name][0] for name in ("delta", "gamma", "theta", "vega")},
        "delta": delta,
        "gamma": gamma,
        "theta_per_day": theta,
        "vega_per_point": vega,
        "margin": margin["initial"],
        "profit_in_fall": fall,
        "hedged_in_fall": fall - 0.1 * legs[0]["quantity"] * chain["spot"],
    }
