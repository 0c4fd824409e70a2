"""Realised profit out of an untidy trade blotter: duplicates, cancellations, three ways of writing."""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from typing import NamedTuple

from evaluators.professional import briefs_trading
from evaluators.professional.assignment import Assignment, Template, any_day, limit_near
from evaluators.professional.assignments.names import TICKERS
from evaluators.professional.memo import EXACT, Figure, Memo
from evaluators.professional.sheet import Exhibit, Fact, Heading, Sheet, column
from evaluators.professional.table import Column, Table

COLUMNS = (
    Column("ticker", "key", "is the share, upper case, in alphabetical order"),
    Column("realised_pnl", "money", "is the realised profit, first in first out, negative for a loss"),
    Column("closing_position", "number", "is the number of shares left", decimals=0),
    Column("open_cost", "money", "is the cost of the shares left"),
)
HISTORY = timedelta(days=200)


class Trade(NamedTuple):
    """A confirmed trade; ``shares`` is negative for a sale."""

    ticker: str
    day: date
    shares: int
    price: float


class Result(NamedTuple):
    """First-in first-out result of one share."""

    realised: float
    position: int
    open_cost: float


def first_in_first_out(trades: Sequence[Trade]) -> Result:
    """Return realised profit, closing position and the cost of the open lots; sales never exceed the position."""
    lots: deque[tuple[int, float]] = deque()
    realised = 0.0
    for trade in trades:
        if trade.shares > 0:
            lots.append((trade.shares, trade.price))
            continue
        left = -trade.shares
        while left:
            held, cost = lots.popleft()
            sold = min(held, left)
            realised += sold * (trade.price - cost)
            left -= sold
            if held > sold:
                lots.appendleft((held - sold, cost))
    return Result(realised, sum(held for held, _ in lots), sum(held * cost for held, cost in lots))


def _trades(rng: random.Random, ticker: str, start: date) -> list[Trade]:
    price, position, day = rng.uniform(15, 150), 0, start
    trades = []
    for _ in range(rng.randint(8, 13)):
        day += timedelta(days=rng.randint(1, 9))
        price *= rng.uniform(0.93, 1.08)
        buying = position < 400 or rng.random() < 0.45
        shares = rng.randrange(100, 1500, 10) if buying else -rng.randrange(10, position + 1, 10)
        position += shares
        trades.append(Trade(ticker, day, shares, round(price, 2)))
    return trades


def _as_recorded(rng: random.Random, trade: Trade, number: str, status: str) -> dict[str, str]:
    """Return the trade as one of three systems writes it."""
    sold, system = trade.shares < 0, rng.randrange(3)
    return {
        "id": number,
        "status": status,
        "ticker": (trade.ticker, trade.ticker.lower(), f" {trade.ticker} ")[system],
        "side": (("BUY", "SELL"), ("B", "S"), ("Buy", "Sell"))[system][sold],
        "quantity": (str(abs(trade.shares)), f"{abs(trade.shares):,}", f"{abs(trade.shares)}.0")[system],
        "price": (f"{trade.price:.2f}", f"${trade.price:.2f}", f"{trade.price:.2f} USD")[system],
        "date": (trade.day.isoformat(), f"{trade.day:%d-%b-%Y}", f"{trade.day:%Y%m%d}")[system],
    }


def _records(rng: random.Random, trades: Sequence[Trade]) -> list[dict[str, str]]:
    """Return the records of all trades with cancelled and repeated ones among them, in no order."""
    cancelled = rng.sample(trades, rng.randint(3, 8))
    numbers = [f"T{number}" for number in rng.sample(range(10_000, 99_999), len(trades) + len(cancelled))]
    records = [_as_recorded(rng, trade, number, "OK") for trade, number in zip(trades, numbers, strict=False)]
    repeated = [dict(record) for record in rng.sample(records, rng.randint(3, 9))]
    for trade, number in zip(cancelled, numbers[len(trades) :], strict=True):
        wrong = trade._replace(price=round(trade.price * 1.03, 2))
        records.append(_as_recorded(rng, wrong, number, "CANCELLED"))
    records += repeated
    rng.shuffle(records)
    return records


def _sheet(rng: random.Random, records: Sequence[Mapping[str, str]], limit: float) -> Sheet:
    names = {
        "id": ("id", "record", "number"),
        "status": ("status", "state"),
        "ticker": ("share", "ticker", "symbol"),
        "side": ("side", "direction"),
        "quantity": ("quantity", "shares"),
        "price": ("price", "trade price"),
        "date": ("date", "trade date"),
    }
    table = Exhibit(
        titles=("the blotter", "records as exported", "the trade records"),
        headings=tuple(Heading(called, "text") for called in names.values()),
        rows=tuple(tuple(record[name].strip() for name in names) for record in records),
        beside=(
            column(rng, Heading(("price of the system at export",), "price"), records, 15, 150, 2),
            column(rng, Heading(("clearing reference",), "text"), records, 100_000, 999_999),
        ),
    )
    facts = (Fact(("limit on the share of excluded records", "limit of the control"), limit, "fraction"),)
    beside = (
        Fact(("share of excluded records last month",), round(rng.uniform(0.05, 0.3), 3), "fraction"),
        Fact(("records exported last month",), rng.randint(60, 140)),
    )
    return Sheet(facts, (table,), beside)


def assign(rng: random.Random) -> Assignment:
    """Draw a blotter and a limit near its share of excluded records."""
    as_of = any_day(rng)
    book = {t: _trades(rng, t, as_of - HISTORY) for t in sorted(rng.sample(TICKERS, rng.randint(5, 7)))}
    trades = [trade for each in book.values() for trade in each]
    records, results = _records(rng, trades), {ticker: first_in_first_out(each) for ticker, each in book.items()}
    excluded = len(records) - len(trades)
    limit = limit_near(rng, excluded / len(records))
    memo = Memo(
        recipient="Operations Control",
        subject="trade blotter reconciliation",
        written_on=as_of,
        figures=(
            Figure("Total realised profit", sum(result.realised for result in results.values()), "currency"),
            Figure("Total open cost", sum(result.open_cost for result in results.values()), "currency"),
            Figure("Traded value", sum(abs(trade.shares) * trade.price for trade in trades), "currency",
                   "sum of shares times price over all valid trades"),
            Figure("Valid trades", float(len(trades)), "number", tolerance=EXACT),
            Figure("Excluded records", float(excluded), "number", tolerance=EXACT),
        ),
        verdicts=("ACCEPT", "ESCALATE"),
        verdict="ESCALATE" if excluded / len(records) > limit else "ACCEPT",
        verdict_rule="ESCALATE if the share of excluded records among all records exceeds the limit, else ACCEPT.",
        summary="Records of three systems were brought to one form before any figure was computed.",
        finding="This compares the share of excluded records with the limit of the control.",
    )  # fmt: skip
    cells = tuple((t, r.realised, float(r.position), r.open_cost) for t, r in results.items())
    inputs = {"records": records, "excluded_share_limit": limit}
    sheet = _sheet(rng, records, limit)
    return Assignment({}, inputs, sheet, Table("profit.csv", COLUMNS, cells), memo, as_of)


TEMPLATE = Template("trade-blotter", "Operations", assign, briefs_trading.BLOTTER)
