"""The cost of an order that was worked over a day and not filled completely."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import NamedTuple

from evaluators.professional import briefs_trading
from evaluators.professional.assignment import Assignment, Template, any_day, limit_near
from evaluators.professional.assignments.names import TICKERS
from evaluators.professional.memo import Figure, Memo
from evaluators.professional.sheet import Exhibit, Fact, Heading, Sheet, column
from evaluators.professional.table import Column, Table

COLUMNS = (
    Column("fill", "key", "is the fill, in order"),
    Column("value", "money", "is shares times price"),
    Column("slippage_bps", "number", "is the slippage against the arrival price in basis points, positive for a cost"),
    Column("slippage_cost", "money", "is the slippage in dollars, positive for a cost"),
)


class Fill(NamedTuple):
    """A part of the order."""

    fill: str
    shares: int
    price: float


class Order(NamedTuple):
    """An order and what was known when it was decided and at the close."""

    ticker: str
    side: str
    shares: int
    arrival_price: float
    close_price: float

    @property
    def sign(self) -> int:
        """1 for a purchase, -1 for a sale."""
        return 1 if self.side == "buy" else -1

    def cost_of(self, shares: int, price: float) -> float:
        """Return the cost in dollars of trading ``shares`` at ``price`` rather than at arrival."""
        return self.sign * (price - self.arrival_price) * shares


def _draw(rng: random.Random) -> tuple[Order, list[Fill]]:
    side = rng.choice(("buy", "sell"))
    sign = 1 if side == "buy" else -1
    arrival = price = round(rng.uniform(20, 180), 2)
    fills = []
    for number in range(1, rng.randint(9, 15)):
        price = round(price * (1 + sign * rng.uniform(-0.0015, 0.0025)), 2)
        fills.append(Fill(f"F{number:02d}", rng.randrange(300, 4000, 10), price))
    ordered = sum(fill.shares for fill in fills) + rng.randrange(500, 6000, 10)
    close = round(price * (1 + sign * rng.uniform(0.001, 0.01)), 2)
    return Order(rng.choice(TICKERS), side, ordered, arrival, close), fills


def _sheet(rng: random.Random, order: Order, fills: Sequence[Fill], fee_bps: float, limit: float) -> Sheet:
    arrival = order.arrival_price
    table = Exhibit(
        titles=("the fills", "executions of the order", "what was filled"),
        headings=(
            Heading(("fill", "execution")),
            Heading(("shares", "shares filled", "quantity")),
            Heading(("price", "fill price"), "price"),
        ),
        rows=tuple(fills),
        spare=tuple(f"F{number}" for number in range(30, 40)),
        beside=(
            column(rng, Heading(("shares on offer", "depth of the book in shares")), fills, 300, 9000),
            column(rng, Heading(("mid price", "mid price after the fill"), "price"), fills, 0.98 * arrival,
                   1.02 * arrival, 2),
        ),
    )  # fmt: skip
    facts = (
        Fact(("shares ordered", "size of the order in shares"), order.shares),
        Fact(("arrival price", "price at arrival"), arrival, "price"),
        Fact(("closing price", "close of the day"), order.close_price, "price"),
        Fact(("fee on the traded value", "fee"), fee_bps, "basis points"),
        Fact(("limit of the execution policy", "limit on the implementation shortfall"), limit, "basis points"),
    )
    beside = (
        Fact(("close of the day before",), round(arrival * rng.uniform(0.97, 1.03), 2), "price"),
        Fact(("volume-weighted price of the market",), round(arrival * rng.uniform(0.99, 1.02), 2), "price"),
        Fact(("shortfall of the last order",), round(rng.uniform(5, 40), 1), "basis points"),
    )
    return Sheet(facts, (table,), beside)


def assign(rng: random.Random) -> Assignment:
    """Draw an order, its fills and a limit near the shortfall."""
    (order, fills), fee_bps, as_of = _draw(rng), rng.randint(1, 6), any_day(rng)
    filled, traded = sum(fill.shares for fill in fills), sum(fill.shares * fill.price for fill in fills)
    slippage, fees = [order.cost_of(fill.shares, fill.price) for fill in fills], traded * fee_bps / 1e4
    opportunity = order.cost_of(order.shares - filled, order.close_price)
    total = sum(slippage) + fees + opportunity
    total_bps = 1e4 * total / (order.shares * order.arrival_price)
    limit = limit_near(rng, abs(total_bps))
    memo = Memo(
        recipient="Best Execution Committee",
        subject=f"{order.ticker} order execution",
        written_on=as_of,
        figures=(
            Figure("Average price", traded / filled, "currency", "volume-weighted, of the fills"),
            Figure("Slippage cost", sum(slippage), "currency", "of all fills, positive for a cost"),
            Figure("Fees", fees, "currency"),
            Figure("Opportunity cost", opportunity, "currency", "of the unfilled shares at the close"),
            Figure("Implementation shortfall", total, "currency", "slippage, fees and opportunity cost"),
        ),
        verdicts=("WITHIN", "BREACH"),
        verdict="BREACH" if total_bps > limit else "WITHIN",
        verdict_rule="BREACH if the implementation shortfall exceeds the limit in basis points of the order's value at "
        "the arrival price, else WITHIN.",
        summary="The order was worked in pieces, moved the price, and was left incomplete at the close.",
        finding="This compares the implementation shortfall with the limit of the execution policy.",
    )
    cells = tuple(
        (fill.fill, fill.shares * fill.price, 1e4 * order.sign * (fill.price / order.arrival_price - 1), cost)
        for fill, cost in zip(fills, slippage, strict=True)
    )
    inputs = {
        "order": order._asdict(),
        "fills": [fill._asdict() for fill in fills],
        "fee_bps": fee_bps,
        "limit_bps": limit,
    }
    fields, sheet = {"side": order.side, "ticker": order.ticker}, _sheet(rng, order, fills, fee_bps, limit)
    return Assignment(fields, inputs, sheet, Table("fills.csv", COLUMNS, cells), memo, as_of)


TEMPLATE = Template("implementation-shortfall", "Trade Cost Analysis", assign, briefs_trading.SHORTFALL)
