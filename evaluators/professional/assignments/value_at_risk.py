"""The parametric value at risk of a portfolio whose price history has to be fetched."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from evaluators.professional import briefs_risk
from evaluators.professional.assignment import Assignment, Template, any_day, limit_near
from evaluators.professional.memo import Figure, Memo
from evaluators.professional.sheet import Exhibit, Fact, Heading, Sheet, column
from evaluators.professional.table import Column, Table
from lake import sample

CONFIDENCE = 0.99
WINDOW_DAYS = 250
TRADING_DAYS_A_YEAR = 252
COLUMNS = (
    Column("ticker", "key", "is the share, in alphabetical order"),
    Column("value", "money", "is shares times the last close"),
    Column("annual_volatility", "percent", f"is the daily standard deviation times the root of {TRADING_DAYS_A_YEAR}",
           decimals=5),
    Column("component_var", "money", "is the contribution to the value at risk; the components add up to it"),
)  # fmt: skip


class Risk(NamedTuple):
    """Of a portfolio over one day, in dollars; the mappings are by ticker, ``deviation`` that of a daily return."""

    at_risk: float
    shortfall: float
    component: dict[str, float]
    stand_alone: dict[str, float]
    deviation: dict[str, float]


def log_returns(closes: Sequence[float]) -> list[float]:
    """Return the daily log returns."""
    return [math.log(after / before) for before, after in itertools.pairwise(closes)]


def measure(values: Mapping[str, float], returns: Mapping[str, Sequence[float]]) -> Risk:
    """Return normal value at risk and expected shortfall, and how the shares contribute."""
    from pricing import risk

    held = np.array([values[ticker] for ticker in returns])
    covariance = np.cov(np.array(list(returns.values())))
    against, single = covariance @ held, np.sqrt(np.diag(covariance))
    deviation = math.sqrt(held @ against)
    at_risk = risk.normal_value_at_risk(standard_deviation=deviation, confidence=CONFIDENCE)

    def by_ticker(column: NDArray[np.float64]) -> dict[str, float]:
        return dict(zip(returns, column.tolist(), strict=True))

    return Risk(
        at_risk=at_risk,
        shortfall=risk.normal_expected_shortfall(standard_deviation=deviation, confidence=CONFIDENCE),
        component=by_ticker(at_risk * held * against / deviation**2),
        stand_alone=by_ticker(at_risk * held * single / deviation),
        deviation=by_ticker(single),
    )


def _sheet(rng: random.Random, shares: Mapping[str, int], others: Sequence[str], limit: float) -> Sheet:
    table = Exhibit(
        titles=("the portfolio", "the holdings", "shares held"),
        headings=(Heading(("ticker", "share")), Heading(("shares", "number of shares", "position"))),
        rows=tuple(shares.items()),
        spare=tuple(others),
        beside=(
            column(rng, Heading(("purchase price",), "price"), shares, 20, 200, 2),
            column(rng, Heading(("shares a year ago",)), shares, 500, 9000),
        ),
    )
    facts = (Fact(("value-at-risk limit", "limit on the value at risk"), limit, "dollars"),)
    beside = (
        Fact(("limit on the expected shortfall",), float(f"{limit * rng.uniform(1.05, 1.4):.3g}"), "dollars"),
        Fact(("value at risk a year ago",), float(f"{limit * rng.uniform(0.6, 1.4):.4g}"), "dollars"),
    )
    return Sheet(facts, (table,), beside)


def assign(rng: random.Random) -> Assignment:
    """Draw a portfolio of simulated shares and a limit near its value at risk."""
    lake, as_of = sample.embedded(), any_day(rng)
    names = [name for name in lake.tickers(as_of=as_of - timedelta(days=365)) if name.startswith("SIM-")]
    shares = {ticker: rng.randrange(500, 9000, 100) for ticker in sorted(rng.sample(names, rng.randint(3, 4)))}
    tables = {ticker: lake.bars_of(ticker, as_of=as_of)[0] for ticker in shares}
    closes = {ticker: tables[ticker].close[-WINDOW_DAYS - 1 :] for ticker in shares}
    days = next(iter(tables.values())).known_on[-WINDOW_DAYS - 1 :]
    values = {ticker: count * closes[ticker][-1] for ticker, count in shares.items()}
    returns = {ticker: log_returns(closes[ticker]) for ticker in shares}
    found = measure(values, returns)
    limit = limit_near(rng, found.at_risk)
    memo = Memo(
        recipient="Risk Committee",
        subject="portfolio value at risk",
        written_on=as_of,
        figures=(
            Figure("Portfolio value", sum(values.values()), "currency"),
            Figure("Value at risk", found.at_risk, "currency", "99%, one day, a positive amount", size=True),
            Figure("Expected shortfall", found.shortfall, "currency", "99%, one day, a positive amount", size=True),
            Figure("Diversification benefit", sum(found.stand_alone.values()) - found.at_risk, "currency",
                   "sum of the stand-alone values at risk of the shares less that of the portfolio"),
        ),
        verdicts=("WITHIN", "BREACH"),
        verdict="BREACH" if found.at_risk > limit else "WITHIN",
        verdict_rule="BREACH if the value at risk exceeds its limit, else WITHIN.",
        summary="The shares were revalued at the last close and their returns taken from the price history.",
        finding="This compares the value at risk of the portfolio with its limit.",
    )  # fmt: skip
    yearly = math.sqrt(TRADING_DAYS_A_YEAR)
    cells = tuple((t, values[t], yearly * found.deviation[t], found.component[t]) for t in shares)
    inputs = {
        "holdings": [{"ticker": ticker, "shares": count} for ticker, count in shares.items()],
        "first_close": days[0].isoformat(),
        "last_close": days[-1].isoformat(),
        "value_at_risk_limit": limit,
    }
    table = Table("risk.csv", COLUMNS, cells)
    sheet = _sheet(rng, shares, [name for name in names if name not in shares], limit)
    fields = {"first_close": days[0].isoformat(), "last_close": days[-1].isoformat(), "window": str(WINDOW_DAYS)}
    return Assignment(fields, inputs, sheet, table, memo, as_of)


TEMPLATE = Template("value-at-risk", "Risk Management", assign, briefs_risk.VALUE_AT_RISK, servers=("yfinance",))
