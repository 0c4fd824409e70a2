"""What is quoted and what is held: an underlying, the option series on it, and positions in them."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

import numpy as np

from evaluators.contract import Json
from pricing import black_scholes

Kind: TypeAlias = Literal["call", "put", "stock"]

DAYS_PER_YEAR = 365
CONTRACT_SIZE = 100
MAX_LEGS = 8


@dataclass(frozen=True, kw_only=True)
class Underlying:
    """A stock or index and the rates that go with it.

    Attributes
    ----------
    spot
        Price now, in dollars.
    rate, dividend_yield
        Continuously compounded, per year.
    volatility
        Per year, as a decimal: the law of the price at expiry and of daily moves. The series have their own.
    """

    spot: float
    rate: float
    dividend_yield: float
    volatility: float

    def context(self) -> dict[str, Json]:
        """Return it as the task shows it."""
        return {
            "spot": self.spot,
            "rate": self.rate,
            "dividend_yield": self.dividend_yield,
            "volatility": self.volatility,
        }


@dataclass(frozen=True, kw_only=True)
class Series:
    """One option series: European, 100 shares a contract.

    Attributes
    ----------
    kind
        ``call`` or ``put``.
    strike
        In dollars.
    days
        Calendar days to expiry.
    price
        Quote per share, at which it is bought and sold.
    volatility
        Implied volatility per year, as a decimal, used for its Greeks and for every revaluation.
    """

    kind: Kind
    strike: float
    days: int
    price: float
    volatility: float

    @property
    def time_to_expiry(self) -> float:
        """Years to expiry."""
        return self.days / DAYS_PER_YEAR

    def at(self, price: float) -> Series:
        """Return the series at another price."""
        return replace(self, price=price)

    def context(self) -> dict[str, Json]:
        """Return it as the task shows it."""
        return {
            "option_type": self.kind,
            "strike": self.strike,
            "days_to_expiry": self.days,
            "price": self.price,
            "volatility": self.volatility,
        }


@dataclass(frozen=True)
class Holding:
    """A signed number of contracts of a series, or of shares when ``series`` is None."""

    series: Series | None
    quantity: int

    @property
    def shares(self) -> float:
        """Shares that it stands for, signed."""
        return float(self.quantity * (1 if self.series is None else CONTRACT_SIZE))


Position: TypeAlias = tuple[Holding, ...]


class NotDrawable(ValueError):
    """The drawn parameters make no market; the next draw is tried."""


def quoted_series(
    underlying: Underlying, *, kinds: Sequence[Kind], strikes: Sequence[float], days: Sequence[int], slope: float = 0.0
) -> tuple[Series, ...]:
    """Return series at their Black-Scholes-Merton values, to the cent, with a volatility linear in log-moneyness.

    ``slope`` is the change of volatility per unit of ``ln(strike / spot)``. Volatilities are rounded to four digits
    before they are used, so that the numbers in the task are the numbers behind the truth.

    Raises
    ------
    NotDrawable
        The slope takes the volatility of a strike below zero.
    """
    volatilities = [round(underlying.volatility + slope * math.log(strike / underlying.spot), 4) for strike in strikes]
    if min(volatilities) < 0.0:
        raise NotDrawable(f"a volatility of {min(volatilities)} at a slope of {slope}")
    size = 32
    if len(strikes) > size:
        raise ValueError(f"a chain has at most {size} series, got {len(strikes)}")
    values = np.asarray(
        black_scholes.price(
            spot=underlying.spot,
            strike=padded(strikes, size),
            time_to_expiry=padded([day / DAYS_PER_YEAR for day in days], size),
            rate=underlying.rate,
            volatility=padded(volatilities, size),
            dividend_yield=underlying.dividend_yield,
            is_call=padded([kind == "call" for kind in kinds], size).astype(bool),
        )
    )
    rows = zip(kinds, strikes, days, values.tolist(), volatilities, strict=False)
    return tuple(
        Series(kind=kind, strike=strike, days=day, price=round(value, 2), volatility=volatility)
        for kind, strike, day, value, volatility in rows
    )


def padded(values: Sequence[float], size: int) -> np.ndarray:
    """Repeat the last value, so that every chain is priced by the same compiled program."""
    return np.array([*values, *[values[-1]] * (size - len(values))], float)


def draw_market(rng: random.Random, *, reach: int) -> tuple[Underlying, int, float]:
    """Return an underlying, days to expiry, and a step of strikes, ``reach`` of which are still well below the spot."""
    market = Underlying(
        spot=draw_spot(rng),
        rate=rng.randint(4, 24) / 400,
        dividend_yield=rng.randint(0, 12) / 400,
        volatility=draw_volatility(rng),
    )
    days = draw_days(rng, market.volatility)
    deviation = market.volatility * math.sqrt(days / DAYS_PER_YEAR)
    step = min(market.spot * deviation / rng.uniform(1.5, 8.0), 0.8 * market.spot / reach)
    return market, days, max(1.0, round(2.0 * step)) / 2.0 if step < 10.0 else float(round(step))


def draw_spot(rng: random.Random) -> float:
    """Return a price of an underlying in whole dollars, over two orders of magnitude."""
    return float(round(log_uniform(rng, 25.0, 4000.0)))


def draw_volatility(rng: random.Random) -> float:
    """Return a volatility per year in whole percentage points."""
    return round(log_uniform(rng, 0.1, 0.95), 2)


def draw_days(rng: random.Random, volatility: float) -> int:
    """Return days to expiry over which a deviation of the price is at most about a third."""
    return round(log_uniform(rng, 15.0, min(400.0, DAYS_PER_YEAR * (0.35 / volatility) ** 2)))


def draw_size(rng: random.Random, low: int = 2, high: int = 1500) -> int:
    """Return a number of contracts; every order of magnitude is equally likely, so that no size is a good guess."""
    return round(log_uniform(rng, low, high))


def log_uniform(rng: random.Random, low: float, high: float) -> float:
    """Return a number between the two whose logarithm is uniform."""
    return math.exp(rng.uniform(math.log(low), math.log(high)))


def draw_strike(rng: random.Random, spot: float, volatility: float, days: int) -> float:
    """Return a strike in whole dollars within 1.8 deviations of the price at expiry."""
    return float(round(spot * math.exp(rng.uniform(-1.8, 1.8) * volatility * math.sqrt(days / DAYS_PER_YEAR))))
