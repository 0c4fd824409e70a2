"""What a multi-leg position can win and lose, and how likely."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from pricing import black_scholes
from pricing.strategy.distribution import TerminalDistribution
from pricing.strategy.leg import Leg
from pricing.strategy.payoff import payoff

Volatility: TypeAlias = float | Callable[[float], float]


@dataclass(frozen=True)
class NetGreeks:
    """Sensitivities of a whole position, in currency, contract multipliers included.

    Attributes
    ----------
    delta
        Value change per 1.00 of spot, that is, equivalent shares.
    gamma
        Delta change per 1.00 of spot.
    theta
        Value change per year of time passing.
    vega, rho
        Value change per 1.00 of volatility, of rate.
    """

    delta: float
    gamma: float
    theta: float
    vega: float
    rho: float


@dataclass(frozen=True)
class Analysis:
    """Answer of :func:`analyze`, in currency, contract multipliers included.

    Attributes
    ----------
    cost
        Cash paid to open; negative for a credit.
    max_profit, max_loss
        At expiry, both positive in the ordinary case; ``inf`` when unbounded; ``max_loss`` is negative when every
        outcome is a profit.
    breakevens
        Stock prices at expiry where the profit is zero, ascending.
    probability_of_profit
        Probability, 0 to 1, that the profit at expiry is above zero; None without spot, time and volatility.
    expected_profit
        Mean profit at expiry under the same distribution; None without it.
    greeks
        Sensitivities now; None without spot, time and volatility.
    """

    cost: float
    max_profit: float
    max_loss: float
    breakevens: tuple[float, ...]
    probability_of_profit: float | None
    expected_profit: float | None
    greeks: NetGreeks | None

    @property
    def profit_is_unbounded(self) -> bool:
        """Whether the profit grows without bound."""
        return math.isinf(self.max_profit)

    @property
    def loss_is_unbounded(self) -> bool:
        """Whether the loss grows without bound."""
        return math.isinf(self.max_loss)


def analyze(
    legs: Sequence[Leg],
    *,
    spot: float | None = None,
    time_to_expiry: float | None = None,
    rate: float = 0.0,
    dividend_yield: float = 0.0,
    volatility: Volatility | None = None,
) -> Analysis:
    """Risk and reward of option and stock legs.

    Parameters
    ----------
    legs
        At least one. A leg's own ``time_to_expiry`` and ``volatility`` come before the arguments below.
    spot
        Price of the stock now, > 0.
    time_to_expiry
        Years to the common expiry.
    rate, dividend_yield
        Continuously compounded, per year.
    volatility
        Per year, as a decimal, or a function from strike to volatility (a smile).

    Returns
    -------
    An :class:`Analysis`. Fields that need spot, time and volatility are None when one of them is not given.

    Raises
    ------
    ValueError
        When there is no leg or an argument is out of its range.
    """
    if not legs:
        raise ValueError("legs must hold at least one leg, got none")
    outcome = payoff(legs)
    greeks = None
    probability = expected = None
    if spot is not None and time_to_expiry is not None and volatility is not None:
        law = TerminalDistribution(
            spot=spot, time=time_to_expiry, rate=rate, dividend_yield=dividend_yield, volatility=volatility
        )
        probability = sum(law.probability(low, high) for low, high in outcome.profitable)
        expected = sum(leg.shares * (law.expected_payoff(leg.kind, leg.strike) - leg.premium) for leg in legs)
        greeks = _net_greeks(legs, spot, time_to_expiry, rate, dividend_yield, volatility)
    return Analysis(
        cost=sum(leg.cost for leg in legs),
        max_profit=outcome.max_profit,
        max_loss=outcome.max_loss,
        breakevens=outcome.breakevens,
        probability_of_profit=probability,
        expected_profit=expected,
        greeks=greeks,
    )


def _net_greeks(
    legs: Sequence[Leg], spot: float, time: float, rate: float, dividend_yield: float, volatility: Volatility
) -> NetGreeks:
    options = [leg for leg in legs if leg.strike is not None]
    totals = np.zeros(5)
    if options:
        strikes = [leg.strike for leg in options if leg.strike is not None]
        per_share = black_scholes.greeks(
            spot=spot,
            strike=np.array(strikes),
            time_to_expiry=np.array([time if leg.time_to_expiry is None else leg.time_to_expiry for leg in options]),
            rate=rate,
            volatility=np.array([_leg_volatility(leg, volatility) for leg in options]),
            dividend_yield=dividend_yield,
            is_call=np.array([leg.kind == "call" for leg in options]),
        )
        totals = np.asarray(per_share) @ np.array([leg.shares for leg in options])
    totals[0] += sum(leg.shares for leg in legs if leg.kind == "stock")
    return NetGreeks(*(float(total) for total in totals))


def _leg_volatility(leg: Leg, volatility: Volatility) -> float:
    if leg.volatility is not None:
        return leg.volatility
    return volatility(leg.strike or math.nan) if callable(volatility) else volatility
