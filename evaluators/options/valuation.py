"""Figures of a position by the pricing engine: Greeks, payoff, probability of profit, revaluation, value at risk.

Arrays are padded to a fixed length, so that positions of every size run through one compiled program each.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from evaluators.options.chain import CONTRACT_SIZE, DAYS_PER_YEAR, MAX_LEGS, Holding, Position, Series, Underlying
from pricing import black_scholes, greek_units, implied_volatility, risk, strategy

TRADING_DAYS_PER_YEAR = 252
KEPT = 64
"""Results of each kind that are kept: limits, figures and marks of a task ask for the same ones."""


class Greeks(NamedTuple):
    """Sensitivities of a position in dollars, in the units that the tasks use.

    Attributes
    ----------
    delta
        Equivalent shares.
    gamma
        Change of delta per 1.00 of spot.
    theta_per_day
        Value change per calendar day.
    vega_per_point, rho_per_point
        Value change per percentage point of volatility, of the rate.
    """

    delta: float
    gamma: float
    theta_per_day: float
    vega_per_point: float
    rho_per_point: float


class Shock(NamedTuple):
    """A change that hits at once: relative move of the spot, points of volatility as a decimal, days gone by."""

    spot_change: float = 0.0
    volatility_change: float = 0.0
    days: float = 0.0


MAX_SHOCKS = 4


def _columns(position: Position) -> dict[str, np.ndarray]:
    rows = [
        (
            holding.series is not None,
            holding.series is None or holding.series.kind == "call",
            holding.shares,
            1.0 if holding.series is None else holding.series.strike,
            1.0 if holding.series is None else holding.series.time_to_expiry,
            1.0 if holding.series is None else holding.series.volatility,
        )
        for holding in position
    ]
    if len(rows) > MAX_LEGS:
        raise ValueError(f"a position has at most {MAX_LEGS} legs, got {len(rows)}")
    rows += [(True, True, 0.0, 1.0, 1.0, 1.0)] * (MAX_LEGS - len(rows))
    names = ("is_option", "is_call", "shares", "strike", "time_to_expiry", "volatility")
    return {name: np.array(column) for name, column in zip(names, zip(*rows, strict=True), strict=True)}


@lru_cache(maxsize=KEPT)
def greeks(position: Position, underlying: Underlying) -> Greeks:
    """Return the sensitivities of a position now."""
    columns = _columns(position)
    per_share = black_scholes.greeks(
        spot=underlying.spot,
        strike=np.where(columns["is_option"], columns["strike"], underlying.spot),
        time_to_expiry=columns["time_to_expiry"],
        rate=underlying.rate,
        volatility=columns["volatility"],
        dividend_yield=underlying.dividend_yield,
        is_call=columns["is_call"],
    )
    totals = np.asarray(per_share) @ (columns["shares"] * columns["is_option"])
    stock = float(columns["shares"][~columns["is_option"]].sum())
    delta, gamma, theta, vega, rho = (float(total) for total in totals)
    return Greeks(
        delta=delta + stock,
        gamma=gamma,
        theta_per_day=greek_units.theta_per_calendar_day(theta),
        vega_per_point=greek_units.vega_per_point(vega),
        rho_per_point=greek_units.rho_per_point(rho),
    )


def profits(position: Position, underlying: Underlying, shocks: Sequence[Shock]) -> tuple[float, ...]:
    """Return what each shock does to the value of a position, every option priced anew at its shocked volatility."""
    return _profits(position, underlying, tuple(shocks))


@lru_cache(maxsize=KEPT)
def _profits(position: Position, underlying: Underlying, shocks: tuple[Shock, ...]) -> tuple[float, ...]:
    if len(shocks) > MAX_SHOCKS:
        raise ValueError(f"at most {MAX_SHOCKS} shocks at a time, got {len(shocks)}")
    padded = [Shock(), *shocks, *[Shock()] * (MAX_SHOCKS - len(shocks))]
    columns = _columns(position)
    values = np.asarray(
        risk.revalue(
            risk.Book(underlying=np.zeros(MAX_LEGS, int), **columns),
            spot=np.array([[underlying.spot * (1.0 + shock.spot_change)] for shock in padded]),
            rate=underlying.rate,
            dividend_yield=underlying.dividend_yield,
            volatility_change=np.array([shock.volatility_change for shock in padded]),
            years_passed=np.array([shock.days / DAYS_PER_YEAR for shock in padded]),
        )
    )
    return tuple(float(value - values[0]) for value in values[1 : len(shocks) + 1])


def model_prices(underlying: Underlying, series: Sequence[Series]) -> list[float]:
    """Return the Black-Scholes-Merton value per share of each series at its own volatility."""
    values: list[float] = np.asarray(black_scholes.price(**_chain(underlying, series))).tolist()
    return values


def model_price(underlying: Underlying, series: Series) -> float:
    """Return the value of one series as :func:`model_prices` does."""
    return model_prices(underlying, [series])[0]


def vegas_per_point(underlying: Underlying, series: Sequence[Series]) -> list[float]:
    """Return the vega of one contract of each series, in dollars per percentage point."""
    vegas: list[float] = np.asarray(black_scholes.greeks(**_chain(underlying, series)).vega).tolist()
    return [greek_units.vega_per_point(CONTRACT_SIZE * vega) for vega in vegas]


def _chain(underlying: Underlying, series: Sequence[Series]) -> dict[str, Any]:
    return {
        "spot": underlying.spot,
        "strike": np.array([item.strike for item in series]),
        "time_to_expiry": np.array([item.time_to_expiry for item in series]),
        "rate": underlying.rate,
        "volatility": np.array([item.volatility for item in series]),
        "dividend_yield": underlying.dividend_yield,
        "is_call": np.array([item.kind == "call" for item in series]),
    }


def with_implied_volatility(underlying: Underlying, series: Series, *, digits: int | None = 4) -> Series:
    """Return the series with the volatility that its price implies, rounded to ``digits`` where they are given."""
    solved = implied_volatility.solve(
        price=series.price,
        spot=underlying.spot,
        strike=series.strike,
        time_to_expiry=series.time_to_expiry,
        rate=underlying.rate,
        dividend_yield=underlying.dividend_yield,
        is_call=series.kind == "call",
    )
    volatility = float(solved.value)
    return replace(series, volatility=volatility if digits is None else round(volatility, digits))


def per_share_greeks(underlying: Underlying, series: Series) -> dict[str, float]:
    """Return the Greeks of one option per share, under the names of :class:`Greeks`."""
    of_contract = greeks((Holding(series, 1),), underlying)
    return {name: value / 100 for name, value in of_contract._asdict().items()}


def cash_paid(position: Position, underlying: Underlying) -> float:
    """Return the dollars paid to open a position, negative when received."""
    return sum(h.shares * (underlying.spot if h.series is None else h.series.price) for h in position)


class Outcome(NamedTuple):
    """A position at the common expiry of its options, in dollars, at the quoted prices.

    Attributes
    ----------
    cost
        Cash paid to open it; negative for a credit.
    max_profit, max_loss
        Both positive in the ordinary case; ``inf`` where there is no bound.
    breakevens
        Prices of the underlying where the profit is zero, ascending.
    profile
        The profit by the price of the underlying.
    """

    cost: float
    max_profit: float
    max_loss: float
    breakevens: tuple[float, ...]
    profile: strategy.Payoff


@lru_cache(maxsize=KEPT)
def payoff(position: Position, underlying: Underlying) -> Outcome:
    """Return what a position can win and lose by expiry."""
    legs = _legs(position, underlying)
    profile = strategy.payoff(legs)
    cost = sum(leg.cost for leg in legs)
    return Outcome(cost, profile.max_profit, profile.max_loss, profile.breakevens, profile)


@lru_cache(maxsize=KEPT)
def probability_of_profit(position: Position, underlying: Underlying, days: int) -> float:
    """Return the risk-neutral probability that the position makes money at expiry.

    The law of the price is lognormal with the underlying's own volatility.
    """
    law = strategy.TerminalDistribution(
        spot=underlying.spot,
        time=days / DAYS_PER_YEAR,
        rate=underlying.rate,
        dividend_yield=underlying.dividend_yield,
        volatility=underlying.volatility,
    )
    profitable = payoff(position, underlying).profile.profitable
    return sum(law.probability(low, high) for low, high in profitable)


def profit_at_expiry(position: Position, underlying: Underlying, price: float) -> float:
    """Return the profit, in dollars, when the underlying ends at ``price`` on the common expiry."""
    return float(payoff(position, underlying).profile.at(Fraction(price)))


def _legs(position: Position, underlying: Underlying) -> list[strategy.Leg]:
    return [
        strategy.Leg(kind="stock", quantity=holding.quantity, premium=underlying.spot)
        if holding.series is None
        else strategy.Leg(
            kind=holding.series.kind,
            quantity=holding.quantity,
            premium=holding.series.price,
            strike=holding.series.strike,
        )
        for holding in position
    ]


def daily_value_at_risk(delta: float, spot: float, volatility: float) -> float:
    """Return the one-day 95% delta-normal value at risk of ``delta`` shares, with no drift and 252 days a year."""
    deviation = abs(delta) * spot * volatility / math.sqrt(TRADING_DAYS_PER_YEAR)
    return risk.normal_value_at_risk(standard_deviation=deviation, confidence=0.95)
