"""Risk: the Greeks and hedge of an option book, value at risk of a portfolio whose prices have to be fetched."""

from __future__ import annotations

import itertools
import math
import random
import statistics
from collections.abc import Sequence
from datetime import timedelta
from typing import NamedTuple

from evaluators.professional.assignment import Assignment, Template, any_day, limit_near
from evaluators.professional.memo import EXACT, Figure, Memo
from evaluators.professional.table import Cell, Column, Table
from lake import sample
from pricing import risk as pricing_risk

CONTRACT_SHARES = 100
CONFIDENCE = 0.99
WINDOW_DAYS = 250


class Position(NamedTuple):
    """Contracts of a European option, negative when sold; volatility and time as the model takes them."""

    position: str
    contracts: int
    option_type: str
    strike: float
    days_to_expiry: int
    volatility: float


class Sensitivities(NamedTuple):
    """Of a whole position, in dollars and shares; vega per percentage point of volatility."""

    value: float
    delta: float
    gamma: float
    vega: float


def sensitivities(position: Position, *, spot: float, rate: float, dividend_yield: float) -> Sensitivities:
    """Return value and Greeks of a position by Black-Scholes-Merton."""
    from pricing import black_scholes

    terms = {
        "spot": spot,
        "strike": position.strike,
        "time_to_expiry": position.days_to_expiry / 365,
        "rate": rate,
        "volatility": position.volatility,
        "dividend_yield": dividend_yield,
        "is_call": position.option_type == "call",
    }
    units = position.contracts * CONTRACT_SHARES
    price, greeks = float(black_scholes.price(**terms)), black_scholes.greeks(**terms)
    return Sensitivities(
        units * price, units * float(greeks.delta), units * float(greeks.gamma), units * float(greeks.vega) / 100
    )


def _any_position(rng: random.Random, number: int, spot: float) -> Position:
    return Position(
        f"O{number}",
        rng.choice((-1, 1)) * rng.randrange(5, 80),
        rng.choice(("call", "put")),
        float(round(spot * rng.uniform(0.85, 1.15))),
        rng.randrange(20, 300),
        round(rng.uniform(0.16, 0.48), 3),
    )


def option_hedge(rng: random.Random) -> Assignment:
    """Ask for value and Greeks of an option book and the share trade that makes it delta neutral."""
    spot = round(rng.uniform(60, 240), 2)
    rate, dividend_yield = round(rng.uniform(0.01, 0.05), 4), round(rng.uniform(0.0, 0.03), 4)
    positions = [_any_position(rng, number, spot) for number in range(1, rng.randint(5, 8))]
    each = [sensitivities(p, spot=spot, rate=rate, dividend_yield=dividend_yield) for p in positions]
    net = Sensitivities(*(sum(column) for column in zip(*each, strict=True)))
    exposure = abs(net.delta) * spot
    limit = limit_near(rng, exposure)
    as_of = any_day(rng)
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (position.position, *values) for position, values in zip(positions, each, strict=True)
    )
    columns = (
        Column("position", "key", "is the position, in order"),
        Column("value", "money", "is its market value, negative when sold"),
        Column("delta", "number", "is its delta in shares"),
        Column("gamma", "number", "is its gamma in shares per dollar", decimals=4),
        Column("vega", "number", "is its vega in dollars per percentage point of volatility"),
    )
    memo = Memo(
        name="memo.md",
        recipient="Head of Risk",
        subject="option book hedge",
        written_on=as_of,
        figures=(
            Figure("Book value", net.value, "currency"),
            Figure("Net delta", net.delta, "number", "in shares", unit="shares"),
            Figure("Net gamma", net.gamma, "number", "in shares per dollar"),
            Figure("Net vega", net.vega, "currency", "per percentage point of volatility"),
            Figure("Hedge trade", float(-round(net.delta)), "number",
                   "whole shares to trade for delta neutrality, negative for a sale", EXACT, "shares"),
        ),
        verdicts=("HEDGE", "HOLD"),
        verdict="HEDGE" if exposure > limit else "HOLD",
        verdict_rule="HEDGE if the absolute net delta times the spot exceeds the delta limit, else HOLD.",
        summary="The book was valued position by position with the model of the desk.",
        finding="This compares the dollar delta of the book with its limit.",
    )  # fmt: skip
    brief = (
        "Compute the Greeks of an option book on one share and report to the head of risk.\nConventions: European "
        "options by Black-Scholes-Merton with continuous rate and dividend yield, time in days over 365, "
        f"{CONTRACT_SHARES} shares a contract, each position with its own volatility. All figures are for the whole "
        "position, signed."
    )
    inputs = {
        "spot": spot,
        "rate": rate,
        "dividend_yield": dividend_yield,
        "delta_limit_dollars": limit,
        "positions": [position._asdict() for position in positions],
    }
    return Assignment(brief, inputs, Table("greeks.csv", columns, rows), memo, as_of)


def covariance(first: Sequence[float], second: Sequence[float]) -> float:
    """Return the sample covariance."""
    return statistics.covariance(first, second)


def value_at_risk(rng: random.Random) -> Assignment:
    """Ask for the parametric value at risk of a portfolio whose price history has to be fetched."""
    lake = sample.embedded()
    as_of = any_day(rng)
    start = as_of - timedelta(days=365)
    names = [name for name in lake.tickers(as_of=start) if name.startswith("SIM-")]
    tickers = sorted(rng.sample(names, rng.randint(3, 4)))
    shares = {ticker: rng.randrange(500, 9000, 100) for ticker in tickers}
    tables = {ticker: lake.bars_of(ticker, as_of=as_of)[0] for ticker in tickers}
    closes = {ticker: tables[ticker].close[-WINDOW_DAYS - 1 :] for ticker in tickers}
    first_day, last_day = (tables[tickers[0]].known_on[place] for place in (-WINDOW_DAYS - 1, -1))
    returns = {t: [math.log(b / a) for a, b in itertools.pairwise(closes[t])] for t in tickers}
    values = {ticker: shares[ticker] * closes[ticker][-1] for ticker in tickers}
    against = {t: sum(values[u] * covariance(returns[t], returns[u]) for u in tickers) for t in tickers}
    deviation = math.sqrt(sum(values[ticker] * against[ticker] for ticker in tickers))
    at_risk = pricing_risk.normal_value_at_risk(standard_deviation=deviation, confidence=CONFIDENCE)
    shortfall = pricing_risk.normal_expected_shortfall(standard_deviation=deviation, confidence=CONFIDENCE)
    alone = {ticker: at_risk * values[ticker] * statistics.stdev(returns[ticker]) / deviation for ticker in tickers}
    limit = limit_near(rng, at_risk)
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (t, values[t], statistics.stdev(returns[t]) * math.sqrt(252), at_risk * values[t] * against[t] / deviation**2)
        for t in tickers
    )
    columns = (
        Column("ticker", "key", "is the share, in alphabetical order"),
        Column("value", "money", "is shares times the last close"),
        Column("annual_volatility", "percent", "is the daily standard deviation times the root of 252", decimals=5),
        Column("component_var", "money", "is the contribution to the value at risk; the components add up to it"),
    )
    memo = Memo(
        name="memo.md",
        recipient="Risk Committee",
        subject="portfolio value at risk",
        written_on=as_of,
        figures=(
            Figure("Portfolio value", sum(values.values()), "currency"),
            Figure("Value at risk", at_risk, "currency", "99%, one day, a positive amount"),
            Figure("Expected shortfall", shortfall, "currency", "99%, one day, a positive amount"),
            Figure("Diversification benefit", sum(alone.values()) - at_risk, "currency",
                   "sum of the stand-alone values at risk of the shares less that of the portfolio"),
        ),
        verdicts=("WITHIN", "BREACH"),
        verdict="BREACH" if at_risk > limit else "WITHIN",
        verdict_rule="BREACH if the value at risk exceeds its limit, else WITHIN.",
        summary="The shares were revalued at the last close and their returns taken from the price history.",
        finding="This compares the value at risk of the portfolio with its limit.",
    )  # fmt: skip
    brief = (
        "Measure the risk of a portfolio of shares and report to the committee. The prices are not given: fetch the "
        f"daily closes from the Yahoo Finance tool, from {first_day} to {last_day}, both included.\nConventions: the "
        f"{WINDOW_DAYS} daily log returns of this window, sample covariances (n-1), zero mean, normal distribution, "
        "linear positions: the dollar variance of the portfolio is the sum over pairs of value times value times "
        "covariance."
    )
    inputs = {
        "holdings": [{"ticker": ticker, "shares": shares[ticker]} for ticker in tickers],
        "first_close": first_day.isoformat(),
        "last_close": last_day.isoformat(),
        "value_at_risk_limit": limit,
    }
    return Assignment(brief, inputs, Table("risk.csv", columns, rows), memo, as_of)


TEMPLATES = (
    Template("option-hedge", "Risk Management", option_hedge),
    Template("value-at-risk", "Risk Management", value_at_risk, ("yfinance",)),
)
