"""Portfolio operations: rebalancing trades, implementation shortfall, profit out of an untidy trade blotter."""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Sequence
from datetime import date, timedelta
from math import floor
from typing import NamedTuple

from evaluators.professional.assignment import Assignment, Template, any_day, limit_near
from evaluators.professional.memo import EXACT, Figure, Memo
from evaluators.professional.table import Cell, Column, Table

TICKERS = ("ALDR", "BRTW", "CRVN", "DLPH", "ESTM", "FNWK", "GLWY", "HRRG", "INVR", "JUNO", "KSTL", "LMBR")


def rebalancing(rng: random.Random) -> Assignment:
    """Ask for the trade list that brings a portfolio to its target weights."""
    tickers = sorted(rng.sample(TICKERS, rng.randint(6, 9)))
    shares = {ticker: rng.randrange(200, 6000) for ticker in tickers}
    prices = {ticker: round(rng.uniform(12, 340), 2) for ticker in tickers}
    raw = {ticker: rng.randint(4, 20) for ticker in tickers}
    parts = sum(raw.values())
    weights = {ticker: round(0.98 * raw[ticker] / parts, 4) for ticker in tickers}
    cash = float(rng.randrange(20, 300) * 1000)
    fee_bps = rng.randint(3, 15)
    nav = cash + sum(shares[ticker] * prices[ticker] for ticker in tickers)
    targets = {ticker: weights[ticker] * nav / prices[ticker] for ticker in tickers}
    trades = {ticker: floor(targets[ticker]) - shares[ticker] for ticker in tickers}
    values = {ticker: trades[ticker] * prices[ticker] for ticker in tickers}
    costs = {ticker: abs(values[ticker]) * fee_bps / 1e4 for ticker in tickers}
    traded, cost = sum(map(abs, values.values())), sum(costs.values())
    turnover = traded / nav
    limit = limit_near(rng, turnover)
    as_of = any_day(rng)
    client = rng.choice(("Rowan Family Office", "Saffron Endowment", "Civic Pension Scheme"))
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (ticker, float(trades[ticker]), values[ticker], costs[ticker]) for ticker in tickers
    )
    columns = (
        Column("ticker", "key", "is the share, in alphabetical order"),
        Column("trade_shares", "number", "is the number of shares to trade, negative for a sale", decimals=0),
        Column("trade_value", "money", "is trade_shares times the price, negative for a sale"),
        Column("cost", "money", "is the trading cost of the line"),
    )
    memo = Memo(
        name="memo.md",
        recipient="Head of Trading",
        subject=f"{client} rebalancing",
        written_on=as_of,
        figures=(
            Figure("Net asset value", nav, "currency", "before trading"),
            Figure("Turnover", turnover, "percent", "sum of absolute trade values over net asset value"),
            Figure("Trading cost", cost, "currency"),
            Figure("Cash after trading", cash - sum(values.values()) - cost, "currency", "after all trades and costs"),
        ),
        verdicts=("EXECUTE", "STAGE"),
        verdict="STAGE" if turnover > limit else "EXECUTE",
        verdict_rule="STAGE if the turnover exceeds the turnover limit, else EXECUTE.",
        summary="Every line is brought to the whole number of shares just below its target weight.",
        finding="This compares the turnover of the trade list with the turnover limit of the mandate.",
    )
    brief = (
        f"{client} is to be rebalanced to its target weights. Prepare the trade list and a memo for the trading "
        "desk.\nConventions: net asset value is the value of all shares plus cash. The target number of shares of a "
        "line is its target weight times the net asset value divided by its price, rounded down to a whole share. "
        "The cost of a trade is the fee in basis points of its absolute value, paid from cash. Lines that need no "
        "trade stay in the list."
    )
    inputs = {
        "holdings": [
            {"ticker": t, "shares": shares[t], "price": prices[t], "target_weight": weights[t]} for t in tickers
        ],
        "cash": cash,
        "fee_bps": fee_bps,
        "turnover_limit": limit,
    }
    return Assignment(brief, inputs, Table("trades.csv", columns, rows), memo, as_of)


def implementation_shortfall(rng: random.Random) -> Assignment:
    """Ask for the cost of an order that was worked over a day and not filled completely."""
    side = rng.choice(("buy", "sell"))
    sign = 1 if side == "buy" else -1
    arrival = round(rng.uniform(20, 180), 2)
    count = rng.randint(8, 14)
    fills = []
    price = arrival
    for number in range(1, count + 1):
        price = round(price * (1 + sign * rng.uniform(-0.0015, 0.0025)), 2)
        fills.append((f"F{number:02d}", rng.randrange(300, 4000, 10), price))
    filled = sum(shares for _, shares, _ in fills)
    ordered = filled + rng.randrange(500, 6000, 10)
    close = round(price * (1 + sign * rng.uniform(0.001, 0.01)), 2)
    fee_bps = rng.randint(1, 6)
    slippage = [sign * (price - arrival) * shares for _, shares, price in fills]
    traded = sum(shares * price for _, shares, price in fills)
    fees = traded * fee_bps / 1e4
    opportunity = sign * (close - arrival) * (ordered - filled)
    total = sum(slippage) + fees + opportunity
    paper = ordered * arrival
    limit_bps = limit_near(rng, abs(total) / paper * 1e4)
    as_of = any_day(rng)
    ticker = rng.choice(TICKERS)
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (name, shares * price, 1e4 * sign * (price / arrival - 1), cost)
        for (name, shares, price), cost in zip(fills, slippage, strict=True)
    )
    columns = (
        Column("fill", "key", "is the fill, in order"),
        Column("value", "money", "is shares times price"),
        Column(
            "slippage_bps", "number", "is the slippage against the arrival price in basis points, positive for a cost"
        ),
        Column("slippage_cost", "money", "is the slippage in dollars, positive for a cost"),
    )
    memo = Memo(
        name="memo.md",
        recipient="Best Execution Committee",
        subject=f"{ticker} order execution",
        written_on=as_of,
        figures=(
            Figure("Average price", traded / filled, "currency", "volume-weighted, of the fills"),
            Figure("Slippage cost", sum(slippage), "currency", "of all fills, positive for a cost"),
            Figure("Fees", fees, "currency"),
            Figure("Opportunity cost", opportunity, "currency", "of the unfilled shares at the close"),
            Figure("Implementation shortfall", total, "currency", "slippage, fees and opportunity cost"),
        ),
        verdicts=("WITHIN", "BREACH"),
        verdict="BREACH" if total / paper * 1e4 > limit_bps else "WITHIN",
        verdict_rule=(
            "BREACH if the implementation shortfall exceeds the limit in basis points of the order's value at the "
            "arrival price, else WITHIN."
        ),
        summary="The order was worked in pieces, moved the price, and was left incomplete at the close.",
        finding="This compares the implementation shortfall with the limit of the execution policy.",
    )
    brief = (
        f"An order to {side} {ordered:,} shares of {ticker} was decided at the arrival price and filled in part. "
        "Prepare the table of fills and a memo on the cost of execution.\nConventions: a cost is positive, a gain "
        "negative; for a sale, a price below arrival is a cost. The shares that were not filled are valued at the "
        "close against the arrival price. Fees are in basis points of the traded value."
    )
    inputs = {
        "order": {"ticker": ticker, "side": side, "shares": ordered, "arrival_price": arrival, "close_price": close},
        "fills": [{"fill": name, "shares": shares, "price": price} for name, shares, price in fills],
        "fee_bps": fee_bps,
        "limit_bps": limit_bps,
    }
    return Assignment(brief, inputs, Table("fills.csv", columns, rows), memo, as_of)


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
    """Return the trade as three different systems write it."""
    bought = trade.shares > 0
    system = rng.randrange(3)
    return {
        "id": number,
        "status": status,
        "ticker": (trade.ticker, trade.ticker.lower(), f" {trade.ticker} ")[system],
        "side": (("BUY", "SELL"), ("B", "S"), ("Buy", "Sell"))[system][not bought],
        "quantity": (str(abs(trade.shares)), f"{abs(trade.shares):,}", f"{abs(trade.shares)}.0")[system],
        "price": (f"{trade.price:.2f}", f"${trade.price:.2f}", f"{trade.price:.2f} USD")[system],
        "date": (trade.day.isoformat(), f"{trade.day:%d-%b-%Y}", f"{trade.day:%Y%m%d}")[system],
    }


def trade_blotter(rng: random.Random) -> Assignment:
    """Ask for realised profit out of raw records with duplicates, cancellations and three ways of writing."""
    as_of = any_day(rng)
    tickers = sorted(rng.sample(TICKERS, rng.randint(5, 7)))
    book = {ticker: _trades(rng, ticker, as_of - timedelta(days=200)) for ticker in tickers}
    trades = [trade for ticker in tickers for trade in book[ticker]]
    numbers = [f"T{number}" for number in rng.sample(range(10_000, 99_999), len(trades) + 8)]
    records = [_as_recorded(rng, trade, number, "OK") for trade, number in zip(trades, numbers, strict=False)]
    cancelled = rng.randint(3, 8)
    for number, trade in zip(numbers[len(trades) :], rng.sample(trades, cancelled), strict=False):
        wrong = trade._replace(shares=trade.shares + rng.choice((-10, 10, 50)), price=round(trade.price * 1.03, 2))
        records.append(_as_recorded(rng, wrong, number, "CANCELLED"))
    duplicated = rng.sample(records[: len(trades)], rng.randint(3, 9))
    records += [dict(record) for record in duplicated]
    rng.shuffle(records)
    results = {ticker: first_in_first_out(book[ticker]) for ticker in tickers}
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (ticker, result.realised, float(result.position), result.open_cost) for ticker, result in results.items()
    )
    excluded = (len(duplicated) + cancelled) / len(records)
    limit = limit_near(rng, excluded)
    columns = (
        Column("ticker", "key", "is the share, upper case, in alphabetical order"),
        Column("realised_pnl", "money", "is the realised profit, first in first out, negative for a loss"),
        Column("closing_position", "number", "is the number of shares left", decimals=0),
        Column("open_cost", "money", "is the cost of the shares left"),
    )
    memo = Memo(
        name="memo.md",
        recipient="Operations Control",
        subject="trade blotter reconciliation",
        written_on=as_of,
        figures=(
            Figure("Total realised profit", sum(result.realised for result in results.values()), "currency"),
            Figure("Total open cost", sum(result.open_cost for result in results.values()), "currency"),
            Figure("Traded value", sum(abs(trade.shares) * trade.price for trade in trades), "currency",
                   "sum of shares times price over all valid trades"),
            Figure("Valid trades", float(len(trades)), "number", tolerance=EXACT),
            Figure("Excluded records", float(len(duplicated) + cancelled), "number", tolerance=EXACT),
        ),
        verdicts=("ACCEPT", "ESCALATE"),
        verdict="ESCALATE" if excluded > limit else "ACCEPT",
        verdict_rule="ESCALATE if the share of excluded records among all records exceeds the limit, else ACCEPT.",
        summary="Records of three systems were brought to one form before any figure was computed.",
        finding="This compares the share of excluded records with the limit of the control.",
    )  # fmt: skip
    brief = (
        "The blotter of a desk was exported from three systems. Clean it, compute the realised profit of each share "
        "first in first out, and report.\nConventions: a record with status CANCELLED is excluded. Of several "
        "records with the same id, one counts and the others are excluded. Within a share, trades are taken in the "
        "order of their dates. Dates are YYYY-MM-DD, DD-Mon-YYYY or YYYYMMDD. There are no opening positions, fees "
        "or short sales."
    )
    inputs = {"records": records, "excluded_share_limit": limit}
    return Assignment(brief, inputs, Table("profit.csv", columns, rows), memo, as_of)


TEMPLATES = (
    Template("rebalancing", "Portfolio Management", rebalancing),
    Template("implementation-shortfall", "Trade Cost Analysis", implementation_shortfall),
    Template("trade-blotter", "Operations", trade_blotter),
)
