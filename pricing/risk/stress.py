"""What a book loses when the market jumps: named scenarios, and moves that happened."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jax.typing import ArrayLike

from pricing.risk.book import Book, revalue
from pricing.signature import checked


@dataclass(frozen=True, kw_only=True)
class Scenario:
    """One shock, applied at once.

    Attributes
    ----------
    name
        Unique within a list.
    spot_change
        Relative move of every underlying, or one of each; -0.2 is a fall of 20%.
    volatility_change
        Added to every volatility; 0.10 is ten points.
    skew_change
        Added to the slope of volatility in log-strike; -0.10 makes a strike 10% below the spot one point dearer.
    rate_change
        Added to the rate; 0.01 is 100 basis points.
    days_passed
        Calendar days that go by.
    """

    name: str
    spot_change: float | tuple[float, ...] = 0.0
    volatility_change: float = 0.0
    skew_change: float = 0.0
    rate_change: float = 0.0
    days_passed: float = 0.0


SCENARIOS: tuple[Scenario, ...] = (
    Scenario(name="spot -20%", spot_change=-0.20),
    Scenario(name="spot -10%", spot_change=-0.10),
    Scenario(name="spot -5%", spot_change=-0.05),
    Scenario(name="spot +5%", spot_change=0.05),
    Scenario(name="spot +10%", spot_change=0.10),
    Scenario(name="spot +20%", spot_change=0.20),
    Scenario(name="volatility +10 points", volatility_change=0.10),
    Scenario(name="volatility -5 points", volatility_change=-0.05),
    Scenario(name="skew: puts dearer", skew_change=-0.20),
    Scenario(name="rate +100 bp", rate_change=0.01),
    Scenario(name="rate -100 bp", rate_change=-0.01),
    Scenario(name="one week passes", days_passed=7.0),
    Scenario(name="crash: spot -20%, volatility +25 points", spot_change=-0.20, volatility_change=0.25),
    Scenario(name="melt-up: spot +10%, volatility -5 points", spot_change=0.10, volatility_change=-0.05),
)


# Moves of the S&P 500 and of the VIX (1987: its predecessor VXO, reconstructed by Cboe), close to close.
HISTORICAL_SCENARIOS: tuple[Scenario, ...] = (
    Scenario(name="1987-10-19 Black Monday", spot_change=-0.2047, volatility_change=1.1382),
    Scenario(name="2008-10-15 crisis day", spot_change=-0.0903, volatility_change=0.1412),
    Scenario(name="2018-02-05 volatility spike", spot_change=-0.0410, volatility_change=0.2001),
    Scenario(name="2020-03-16 pandemic day", spot_change=-0.1198, volatility_change=0.2486),
    Scenario(name="2024-08-05 carry unwind", spot_change=-0.0300, volatility_change=0.1518),
)


@dataclass(frozen=True)
class StressOutcome:
    """What one scenario does to a book.

    Attributes
    ----------
    scenario
        The shock.
    profit_and_loss
        In currency, profits positive.
    """

    scenario: Scenario
    profit_and_loss: float


@checked
def stress(
    book: Book,
    *,
    spot: ArrayLike,
    rate: float = 0.0,
    dividend_yield: float = 0.0,
    scenarios: Sequence[Scenario] = SCENARIOS,
) -> tuple[StressOutcome, ...]:
    """Profit or loss of a book in each scenario, every option priced anew.

    Parameters
    ----------
    book
        The positions.
    spot
        Prices of the underlyings now, shape ``[underlyings]``.
    rate, dividend_yield
        Continuously compounded, per year.
    scenarios
        The shocks, with unique names.

    Raises
    ------
    ValueError
        When two scenarios share a name, a relative fall exceeds 100%, or there is not one move for each underlying.
    """
    names = [scenario.name for scenario in scenarios]
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"scenarios must have unique names, got {name!r} twice")
    prices = np.atleast_1d(np.asarray(spot, float))
    for scenario in scenarios:
        moves = np.asarray(scenario.spot_change, float)
        if moves.shape not in ((), prices.shape):
            raise ValueError(
                f"spot_change of {scenario.name!r} must be one number or have {prices.size}, one for each underlying, "
                f"got {moves.size}"
            )
        if (moves < -1.0).any():
            raise ValueError(f"spot_change of {scenario.name!r} must be >= -1, got {scenario.spot_change!r}")
    now = float(revalue(book, spot=spot, rate=rate, dividend_yield=dividend_yield))
    then = revalue(
        book,
        spot=np.stack([(1.0 + np.asarray(scenario.spot_change, float)) * prices for scenario in scenarios]),
        rate=np.array([rate + scenario.rate_change for scenario in scenarios]),
        dividend_yield=dividend_yield,
        volatility_change=np.array([scenario.volatility_change for scenario in scenarios]),
        skew_change=np.array([scenario.skew_change for scenario in scenarios]),
        years_passed=np.array([scenario.days_passed / 365.0 for scenario in scenarios]),
    )
    return tuple(
        StressOutcome(scenario, value - now)
        for scenario, value in zip(scenarios, np.asarray(then).tolist(), strict=True)
    )
