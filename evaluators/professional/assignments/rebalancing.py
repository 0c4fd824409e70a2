"""The trade list that brings a portfolio to its target weights."""

from __future__ import annotations

import random
from collections.abc import Sequence
from math import floor
from typing import NamedTuple

from evaluators.professional import briefs_trading
from evaluators.professional.assignment import Assignment, Template, any_day, limit_near
from evaluators.professional.assignments.names import TICKERS
from evaluators.professional.memo import Figure, Memo
from evaluators.professional.sheet import Exhibit, Fact, Heading, Sheet, column
from evaluators.professional.table import Column, Table

COLUMNS = (
    Column("ticker", "key", "is the share, in alphabetical order"),
    Column("trade_shares", "number", "is the number of shares to trade, negative for a sale", decimals=0),
    Column("trade_value", "money", "is trade_shares times the price, negative for a sale"),
    Column("cost", "money", "is the trading cost of the line"),
)
CLIENTS = ("Rowan Family Office", "Saffron Endowment", "Civic Pension Scheme")
INVESTED = 0.98
"""Sum of the target weights; the rest stays in cash and pays the costs."""


class Holding(NamedTuple):
    """A line of the portfolio."""

    ticker: str
    shares: int
    price: float
    target_weight: float


class Trade(NamedTuple):
    """A line of the trade list, signed; ``cost`` in dollars."""

    shares: int
    value: float
    cost: float


def net_asset_value(holdings: Sequence[Holding], cash: float) -> float:
    """Return the value of all shares plus cash."""
    return cash + sum(line.shares * line.price for line in holdings)


def trades(holdings: Sequence[Holding], *, cash: float, fee_bps: float) -> list[Trade]:
    """Return the trade of each holding, in their order."""
    nav = net_asset_value(holdings, cash)
    counts = [floor(line.target_weight * nav / line.price) - line.shares for line in holdings]
    values = [count * line.price for count, line in zip(counts, holdings, strict=True)]
    return [Trade(count, value, abs(value) * fee_bps / 1e4) for count, value in zip(counts, values, strict=True)]


def _draw(rng: random.Random) -> list[Holding]:
    tickers = sorted(rng.sample(TICKERS, rng.randint(6, 9)))
    parts = {ticker: rng.randint(4, 20) for ticker in tickers}
    weights = {ticker: round(INVESTED * parts[ticker] / sum(parts.values()), 4) for ticker in tickers}
    return [
        Holding(ticker, rng.randrange(200, 6000), round(rng.uniform(12, 340), 2), weights[ticker]) for ticker in tickers
    ]


def _sheet(rng: random.Random, holdings: Sequence[Holding], cash: float, fee_bps: float, limit: float) -> Sheet:
    table = Exhibit(
        titles=("the portfolio", "positions and targets", "the lines of the portfolio"),
        headings=(
            Heading(("share", "ticker", "line")),
            Heading(("shares held", "number of shares", "position")),
            Heading(("price", "share price", "market price"), "price"),
            Heading(("target weight", "weight wanted", "target"), "fraction"),
        ),
        rows=tuple(holdings),
        spare=tuple(ticker for ticker in TICKERS if ticker not in {line.ticker for line in holdings}),
        beside=(
            column(rng, Heading(("purchase price", "average price paid"), "price"), holdings, 12, 340, 2),
            column(rng, Heading(("target weight until last year",), "fraction"), holdings, 0.04, 0.2, 4),
        ),
    )
    facts = (
        Fact(("cash", "cash of the portfolio"), cash, "dollars"),
        Fact(("trading fee", "fee on each trade"), fee_bps, "basis points"),
        Fact(("turnover limit", "limit on the turnover"), limit, "fraction"),
    )
    beside = (
        Fact(("fee of the former broker",), rng.randint(3, 15), "basis points"),
        Fact(("turnover of the last rebalancing",), round(rng.uniform(0.1, 0.9), 3), "fraction"),
        Fact(("management fee of the past year",), rng.randrange(20, 90) * 1000, "dollars"),
    )
    return Sheet(facts, (table,), beside)


def assign(rng: random.Random) -> Assignment:
    """Draw a portfolio, its targets and a turnover limit near the turnover."""
    client, as_of = rng.choice(CLIENTS), any_day(rng)
    holdings, cash, fee_bps = _draw(rng), float(rng.randrange(20, 300) * 1000), rng.randint(3, 15)
    lines = trades(holdings, cash=cash, fee_bps=fee_bps)
    nav, cost = net_asset_value(holdings, cash), sum(line.cost for line in lines)
    turnover = sum(abs(line.value) for line in lines) / nav
    limit = limit_near(rng, turnover)
    memo = Memo(
        recipient="Head of Trading",
        subject=f"{client} rebalancing",
        written_on=as_of,
        figures=(
            Figure("Net asset value", nav, "currency", "before trading"),
            Figure("Turnover", turnover, "percent", "sum of absolute trade values over net asset value"),
            Figure("Trading cost", cost, "currency"),
            Figure("Cash after trading", cash - sum(line.value for line in lines) - cost, "currency",
                   "after all trades and costs"),
        ),
        verdicts=("EXECUTE", "STAGE"),
        verdict="STAGE" if turnover > limit else "EXECUTE",
        verdict_rule="STAGE if the turnover exceeds the turnover limit, else EXECUTE.",
        summary="Every line is brought to the whole number of shares just below its target weight.",
        finding="This compares the turnover of the trade list with the turnover limit of the mandate.",
    )  # fmt: skip
    cells = tuple(
        (held.ticker, float(line.shares), line.value, line.cost) for held, line in zip(holdings, lines, strict=True)
    )
    inputs = {
        "holdings": [line._asdict() for line in holdings],
        "cash": cash,
        "fee_bps": fee_bps,
        "turnover_limit": limit,
    }
    sheet, table = _sheet(rng, holdings, cash, fee_bps, limit), Table("trades.csv", COLUMNS, cells)
    return Assignment({"client": client}, inputs, sheet, table, memo, as_of)


TEMPLATE = Template("rebalancing", "Portfolio Management", assign, briefs_trading.REBALANCING)
