"""Orders on the paper account of the trading server: placed on their days, and what their fills cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from mcp_toolbox import Toolbox

from assignments.deliverables import Work

Row: TypeAlias = Mapping[str, Any]
ORDER_KEYS = {"order", "placed_on", "ticker", "side", "shares"}
FILL_KEYS = ("client_order_id", "ticker", "quantity", "fill_price", "fee", "filled_on")


async def trade_costs(context: Mapping[str, Any], toolbox: Toolbox) -> Work | None:
    """Return what orders cost that are placed on their days; None when one of them was not filled."""
    orders, cash, end = context.get("orders"), context.get("cash"), context.get("as_of")
    if not isinstance(orders, list) or not orders or not all(ORDER_KEYS <= set(order) for order in orders):
        return None
    if cash is None or not isinstance(end, str):
        return None
    account = await _trade(orders, float(cash), end, toolbox)
    fills = _rows(await toolbox.call("trading", "list_orders"))
    if any(fill["fill_price"] is None for fill in fills):
        return None
    return _report(fills, [await _slippage(fill, toolbox) for fill in fills], account)


async def _trade(orders: Sequence[Row], cash: float, end: str, toolbox: Toolbox) -> Row:
    """Place each order on its day, let time pass to the end, and return the account as it then is."""
    days = sorted({str(order["placed_on"]) for order in orders})
    await toolbox.call("trading", "open_account", cash=cash, start=days[0])
    for day in days:
        # an order meets the days after the account's clock, which therefore stands on the day of placing
        await toolbox.call("trading", "advance", to=day)
        for order in orders:
            if order["placed_on"] == day:
                await _place(order, toolbox)
    return await toolbox.call("trading", "advance", to=end)


async def _place(order: Row, toolbox: Toolbox) -> None:
    await toolbox.call(
        "trading",
        "place_order",
        client_order_id=str(order["order"]),
        ticker=order["ticker"],
        side=order["side"],
        quantity=float(order["shares"]),
    )


def _rows(columns: Row) -> list[dict[str, Any]]:
    return [dict(zip(FILL_KEYS, row, strict=True)) for row in zip(*(columns[key] for key in FILL_KEYS), strict=True)]


async def _slippage(fill: Row, toolbox: Toolbox) -> float:
    """Return shares times the distance of the fill price from the open of its day, which the market data server has."""
    day = fill["filled_on"]
    history = await toolbox.call("yfinance", "get_price_history", ticker=fill["ticker"], start=day, end=day)
    return float(fill["quantity"]) * abs(float(fill["fill_price"]) - float(history["open"][0]))


def _report(fills: Sequence[Row], slippage: Sequence[float], account: Row) -> Work:
    prices, fees = [float(fill["fill_price"]) for fill in fills], [float(fill["fee"]) for fill in fills]
    return Work(
        columns={
            "order": [str(fill["client_order_id"]) for fill in fills],
            "ticker": [str(fill["ticker"]) for fill in fills],
            "fill_price": prices,
            "fee": fees,
            "slippage_cost": slippage,
        },
        figures={
            "Closing equity": float(account["equity"]),
            "Profit": float(account["profit_and_loss"]),
            "Total fees": sum(fees),
            "Total slippage cost": sum(slippage),
            "Traded value": sum(float(fill["quantity"]) * price for fill, price in zip(fills, prices, strict=True)),
            "Fees and slippage": sum(fees) + sum(slippage),
        },
    )
