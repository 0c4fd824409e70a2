"""Execution in the trading simulator: two days of orders on a paper account, and what they cost."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from datetime import date
from typing import NamedTuple

from evaluators.professional.assignment import Assignment, Template, any_day, limit_near
from evaluators.professional.memo import Figure, Memo
from evaluators.professional.table import Cell, Column, Table
from lake import sample
from lake.records import Bars

HALF_SPREAD_BPS, IMPACT_BPS, FEE_BPS = 1.0, 50.0, 1.0
"""Costs that the task states. They are the simulator's, which a test confirms."""


class Order(NamedTuple):
    """A market order; ``shares`` is negative for a sale."""

    order: str
    ticker: str
    shares: int
    placed_on: date


class Fill(NamedTuple):
    """What an order became: price before and after slippage, and the fee."""

    open: float
    price: float
    fee: float


def fill(order: Order, bars: Bars) -> Fill:
    """Return the fill of a market order at the open of the first trading day after the day it was placed on."""
    import jax.numpy as jnp

    from backtest import costs
    from backtest.rules import Rules

    rules = Rules(fee_bps=FEE_BPS, slippage_bps=HALF_SPREAD_BPS, impact_bps=IMPACT_BPS)
    row = next(row for row, day in enumerate(bars.known_on) if day > order.placed_on)
    price, fee = costs.fill(
        quantity=jnp.asarray(float(order.shares)),
        price=jnp.asarray(bars.open[row]),
        volume=jnp.asarray(bars.volume[row]),
        rules=rules,
    )
    return Fill(bars.open[row], float(price), float(fee))


def _orders(rng: random.Random, tables: Mapping[str, Bars], first: date, second: date, cash: float) -> list[Order]:
    """Draw purchases on the first day that spend most of the cash, and a sale and a purchase on the second."""
    tickers = sorted(tables)
    orders: list[Order] = []
    for ticker in tickers[:-1]:
        price = next(c for d, c in zip(tables[ticker].known_on, tables[ticker].close, strict=True) if d >= first)
        shares = int(cash * rng.uniform(0.2, 0.3) / price) // 10 * 10
        orders.append(Order(f"O{len(orders) + 1}", ticker, shares, first))
    sold = rng.choice(orders)
    orders.append(Order(f"O{len(orders) + 1}", sold.ticker, -(sold.shares // rng.randint(2, 4)), second))
    price = next(c for d, c in zip(tables[tickers[-1]].known_on, tables[tickers[-1]].close, strict=True) if d >= second)
    orders.append(Order(f"O{len(orders) + 1}", tickers[-1], int(cash * 0.08 / price) // 10 * 10, second))
    return orders


def _closing_equity(cash: float, orders: Sequence[Order], fills: Sequence[Fill], tables: Mapping[str, Bars]) -> float:
    spent = sum(order.shares * each.price + each.fee for order, each in zip(orders, fills, strict=True))
    return cash - spent + sum(order.shares * tables[order.ticker].close[-1] for order in orders)


def paper_trading(rng: random.Random) -> Assignment:
    """Ask for a trade-cost report on orders that are placed in the trading simulator."""
    lake = sample.embedded()
    as_of = any_day(rng)
    names = [name for name in lake.tickers(as_of=as_of) if name.startswith("SIM-")]
    tickers = sorted(rng.sample(names, 3))
    tables = {ticker: lake.bars_of(ticker, as_of=as_of)[0] for ticker in tickers}
    days = tables[tickers[0]].known_on
    first, second = days[-rng.randint(30, 45)], days[-rng.randint(10, 20)]
    cash = float(rng.randrange(200, 2_000) * 10_000)
    orders = _orders(rng, tables, first, second, cash)
    fills = [fill(order, tables[order.ticker]) for order in orders]
    slippage = [abs(order.shares * (each.price - each.open)) for order, each in zip(orders, fills, strict=True)]
    equity = _closing_equity(cash, orders, fills, tables)
    cost = sum(slippage) + sum(each.fee for each in fills)
    traded = sum(abs(order.shares) * each.price for order, each in zip(orders, fills, strict=True))
    cost_bps = 1e4 * cost / traded
    limit = limit_near(rng, cost_bps)
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (order.order, each.price, each.fee, paid) for order, each, paid in zip(orders, fills, slippage, strict=True)
    )
    columns = (
        Column("order", "key", "is the order, in the order of placing"),
        Column("fill_price", "number", "is the fill price in dollars", decimals=4),
        Column("fee", "money", "is the fee"),
        Column("slippage_cost", "money", "is shares times the distance of the fill price from the open of its day"),
    )
    memo = Memo(
        name="memo.md",
        recipient="Best Execution Committee",
        subject="paper account trade costs",
        written_on=as_of,
        figures=(
            Figure("Closing equity", equity, "currency", f"cash plus positions at the close of {days[-1]}"),
            Figure("Profit", equity - cash, "currency", "closing equity less initial cash, negative for a loss"),
            Figure("Total fees", sum(each.fee for each in fills), "currency"),
            Figure("Total slippage cost", sum(slippage), "currency"),
            Figure("Traded value", traded, "currency", "sum of shares times fill price"),
        ),
        verdicts=("WITHIN", "BREACH"),
        verdict="BREACH" if cost_bps > limit else "WITHIN",
        verdict_rule="BREACH if fees and slippage exceed the limit in basis points of the traded value, else WITHIN.",
        summary="The orders were filled at the opens that followed them, and the account was marked at the last close.",
        finding="This compares the whole cost of trading with the limit of the execution policy.",
    )
    brief = (
        "Trade on the paper account of the trading simulator and report what it cost. Open the account with "
        f"${cash:,.0f} of cash, its clock starting on {first}, place the orders of the first day, let time pass to "
        f"{second}, place the others, and let time pass to {as_of}.\nConventions of the simulator: a market order is "
        "filled at the open of the first trading day after it was placed. It pays half a spread of "
        f"{HALF_SPREAD_BPS:g} basis point and an impact of {IMPACT_BPS:g} basis points times the root of its shares "
        f"over the day's volume, against the trader, and a fee of {FEE_BPS:g} basis point of the value at the fill "
        "price."
    )
    inputs = {
        "cash": cash,
        "orders": [
            {
                "order": order.order,
                "placed_on": order.placed_on.isoformat(),
                "ticker": order.ticker,
                "side": "buy" if order.shares > 0 else "sell",
                "shares": abs(order.shares),
            }
            for order in orders
        ],
        "cost_limit_bps": limit,
    }
    return Assignment(brief, inputs, Table("executions.csv", columns, rows), memo, as_of)


TEMPLATES = (Template("paper-trading", "Trade Cost Analysis", paper_trading, ("trading", "yfinance")),)
