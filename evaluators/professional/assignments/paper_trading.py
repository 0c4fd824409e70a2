"""A trade-cost report on orders that are placed in the trading simulator."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from datetime import date
from typing import NamedTuple

from evaluators.professional import briefs_trading
from evaluators.professional.assignment import Assignment, Template, any_day, limit_near
from evaluators.professional.memo import Figure, Memo
from evaluators.professional.sheet import Exhibit, Fact, Heading, Sheet, column
from evaluators.professional.table import Column, Table
from lake import sample
from lake.records import Bars

HALF_SPREAD_BPS, IMPACT_BPS, FEE_BPS = 1.0, 50.0, 1.0
"""Costs that the task states. They are the simulator's, which a test confirms."""

COLUMNS = (
    Column("order", "key", "is the order, in the order of placing"),
    Column("fill_price", "number", "is the fill price in dollars", decimals=4),
    Column("fee", "money", "is the fee"),
    Column("slippage_cost", "money", "is shares times the distance of the fill price from the open of its day"),
)


class Order(NamedTuple):
    """A market order; ``shares`` is negative for a sale."""

    order: str
    ticker: str
    shares: int
    placed_on: date

    def instruction(self) -> dict[str, str | int]:
        """Return the order as the desk is told."""
        side = "buy" if self.shares > 0 else "sell"
        placed = self.placed_on.isoformat()
        return {
            "order": self.order,
            "placed_on": placed,
            "ticker": self.ticker,
            "side": side,
            "shares": abs(self.shares),
        }


class Fill(NamedTuple):
    """What an order became: fill price, fee and slippage in dollars."""

    price: float
    fee: float
    slippage: float


def fill(order: Order, bars: Bars) -> Fill:
    """Return the fill of a market order at the open of the first trading day after the day it was placed on."""
    import jax.numpy as jnp

    from backtest import costs
    from backtest.rules import Rules

    row = next(row for row, day in enumerate(bars.known_on) if day > order.placed_on)
    price, fee = costs.fill(
        quantity=jnp.asarray(float(order.shares)),
        price=jnp.asarray(bars.open[row]),
        volume=jnp.asarray(bars.volume[row]),
        rules=Rules(fee_bps=FEE_BPS, slippage_bps=HALF_SPREAD_BPS, impact_bps=IMPACT_BPS),
    )
    return Fill(float(price), float(fee), abs(order.shares * (float(price) - bars.open[row])))


def _close_on(bars: Bars, day: date) -> float:
    return bars.close[bars.known_on.index(day)]


def _orders(rng: random.Random, tables: Mapping[str, Bars], first: date, second: date, cash: float) -> list[Order]:
    """Draw purchases on the first day that spend part of the cash, and a sale and a purchase on the second."""
    *bought, last = sorted(tables)
    orders: list[Order] = []
    for ticker in bought:
        shares = int(cash * rng.uniform(0.2, 0.3) / _close_on(tables[ticker], first)) // 10 * 10
        orders.append(Order(f"O{len(orders) + 1}", ticker, shares, first))
    sold = rng.choice(orders)
    orders.append(Order(f"O{len(orders) + 1}", sold.ticker, -(sold.shares // rng.randint(2, 4)), second))
    shares = int(cash * 0.08 / _close_on(tables[last], second)) // 10 * 10
    orders.append(Order(f"O{len(orders) + 1}", last, shares, second))
    return orders


def closing_equity(cash: float, orders: Sequence[Order], fills: Sequence[Fill], tables: Mapping[str, Bars]) -> float:
    """Return cash plus positions at the last close."""
    spent = sum(order.shares * done.price + done.fee for order, done in zip(orders, fills, strict=True))
    return cash - spent + sum(order.shares * tables[order.ticker].close[-1] for order in orders)


def _sheet(rng: random.Random, orders: Sequence[Order], cash: float, limit: float) -> Sheet:
    told = [order.instruction() for order in orders]
    table = Exhibit(
        titles=("the orders", "the order list", "what is to be traded"),
        headings=(
            Heading(("order",)),
            Heading(("day of placing", "placed on"), "text"),
            Heading(("share", "ticker"), "text"),
            Heading(("side", "buy or sell"), "text"),
            Heading(("shares", "number of shares")),
        ),
        rows=tuple(tuple(row[name] for name in ("order", "placed_on", "ticker", "side", "shares")) for row in told),
        spare=tuple(f"O{number}" for number in range(20, 30)),
        beside=(
            column(rng, Heading(("price when proposed",), "price"), orders, 20, 200, 2),
            column(rng, Heading(("shares first proposed",)), orders, 500, 9000),
        ),
    )
    facts = (
        Fact(("initial cash", "cash to open the account with"), cash, "dollars"),
        Fact(("limit on fees and slippage", "cost limit"), limit, "basis points"),
    )
    beside = (
        Fact(("cost of the last programme",), round(rng.uniform(3, 12), 2), "basis points"),
        Fact(("cash of the account that was closed",), rng.randrange(200, 2_000) * 10_000, "dollars"),
    )
    return Sheet(facts, (table,), beside)


def assign(rng: random.Random) -> Assignment:
    """Draw orders on simulated shares and a limit near their cost."""
    lake, as_of, cash = sample.embedded(), any_day(rng), float(rng.randrange(200, 2_000) * 10_000)
    names = [name for name in lake.tickers(as_of=as_of) if name.startswith("SIM-")]
    tables = {ticker: lake.bars_of(ticker, as_of=as_of)[0] for ticker in rng.sample(names, 3)}
    days = next(iter(tables.values())).known_on
    first, second = days[-rng.randint(30, 45)], days[-rng.randint(10, 20)]
    orders = _orders(rng, tables, first, second, cash)
    fills = [fill(order, tables[order.ticker]) for order in orders]
    equity = closing_equity(cash, orders, fills, tables)
    traded = sum(abs(order.shares) * done.price for order, done in zip(orders, fills, strict=True))
    cost_bps = 1e4 * sum(done.fee + done.slippage for done in fills) / traded
    limit = limit_near(rng, cost_bps)
    memo = Memo(
        recipient="Best Execution Committee",
        subject="paper account trade costs",
        written_on=as_of,
        figures=(
            Figure("Closing equity", equity, "currency", f"cash plus positions at the close of {days[-1]}"),
            Figure("Profit", equity - cash, "currency", "closing equity less initial cash, negative for a loss"),
            Figure("Total fees", sum(done.fee for done in fills), "currency"),
            Figure("Total slippage cost", sum(done.slippage for done in fills), "currency"),
            Figure("Traded value", traded, "currency", "sum of shares times fill price"),
        ),
        verdicts=("WITHIN", "BREACH"),
        verdict="BREACH" if cost_bps > limit else "WITHIN",
        verdict_rule="BREACH if fees and slippage exceed the limit in basis points of the traded value, else WITHIN.",
        summary="The orders were filled at the opens that followed them, and the account was marked at the last close.",
        finding="This compares the whole cost of trading with the limit of the execution policy.",
    )
    cells = tuple((order.order, *done) for order, done in zip(orders, fills, strict=True))
    inputs = {"cash": cash, "orders": [order.instruction() for order in orders], "cost_limit_bps": limit}
    fields = {
        "first": first.isoformat(),
        "second": second.isoformat(),
        "as_of": as_of.isoformat(),
        "half_spread": f"{HALF_SPREAD_BPS:g}",
        "impact": f"{IMPACT_BPS:g}",
        "fee": f"{FEE_BPS:g}",
    }
    table = Table("executions.csv", COLUMNS, cells)
    return Assignment(fields, inputs, _sheet(rng, orders, cash, limit), table, memo, as_of)


TEMPLATE = Template(
    "paper-trading", "Trade Cost Analysis", assign, briefs_trading.PAPER, servers=("trading", "yfinance")
)
