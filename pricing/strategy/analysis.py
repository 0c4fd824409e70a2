"""What a multi-leg position can win and lose, and how likely."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from pricing import black_scholes
from pricing.padding import padded
from pricing.signature import checked
from pricing.strategy.distribution import TerminalDistribution
from pricing.strategy.horizon import HorizonOutcome, first_expiry_outcome
from pricing.strategy.leg import Leg
from pricing.strategy.margin import Margin, margin
from pricing.strategy.payoff import payoff
from pricing.strategy.structure import Structure, classify

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
    structure
        What the position is called.
    cost
        Cash paid to open; negative for a credit.
    max_profit, max_loss
        At the first expiry, both positive in the ordinary case; ``inf`` when unbounded; ``max_loss`` is negative when
        every outcome is a profit.
    breakevens
        Stock prices at the first expiry where the profit is zero, ascending.
    probability_of_profit
        Probability, 0 to 1, that the profit at the first expiry is above zero; None without spot, time and volatility.
    expected_profit
        Mean profit at expiry under the same distribution; None without it, or when the legs expire at different times.
    greeks
        Sensitivities now; None without spot, time and volatility.
    margin
        Regulation T margin of the position; None without spot.
    """

    structure: Structure
    cost: float
    max_profit: float
    max_loss: float
    breakevens: tuple[float, ...]
    probability_of_profit: float | None
    expected_profit: float | None
    greeks: NetGreeks | None
    margin: Margin | None

    @property
    def profit_is_unbounded(self) -> bool:
        """Whether the profit grows without bound."""
        return math.isinf(self.max_profit)

    @property
    def loss_is_unbounded(self) -> bool:
        """Whether the loss grows without bound."""
        return math.isinf(self.max_loss)


@checked
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

    >>> from pricing.strategy import Leg
    >>> spread = [
    ...     Leg(kind="call", quantity=1, premium=5.00, strike=185.0),
    ...     Leg(kind="call", quantity=-1, premium=2.70, strike=190.0),
    ... ]
    >>> answer = analyze(spread)
    >>> answer.structure.name, answer.max_profit, answer.max_loss, answer.breakevens
    ('bull call spread', 270.0, 230.0, (187.3,))

    Parameters
    ----------
    legs
        At least one. A leg's own ``time_to_expiry`` and ``volatility`` come before the arguments below. Legs with
        different expiries are judged at the first, the later ones priced by the model at their volatility.
    spot
        Price of the stock now, > 0.
    time_to_expiry
        Years to expiry of the legs that do not state theirs.
    rate, dividend_yield
        Continuously compounded, per year.
    volatility
        Per year, as a decimal, or a function from strike to volatility (a smile). The law of the stock price at the
        first expiry uses it too; without it, the mean volatility of the legs that expire first.

    Returns
    -------
    An :class:`Analysis`. Fields that need spot, time and volatility are None when one of them is not given.

    Raises
    ------
    ValueError
        When there is no leg, an argument is out of its range, or legs with different expiries lack a volatility.
    """
    if not legs:
        raise ValueError("legs must hold at least one leg, got none")
    legs = [_complete(leg, time_to_expiry, volatility) for leg in legs]
    options = [leg for leg in legs if leg.strike is not None]
    times = {leg.time_to_expiry for leg in options} or {time_to_expiry}
    outcome = payoff(legs) if len(times) == 1 else _first_expiry(legs, options, rate, dividend_yield)
    law = _law(options, times, spot, rate, dividend_yield, volatility)
    return Analysis(
        structure=classify(legs),
        cost=sum(leg.cost for leg in legs),
        max_profit=outcome.max_profit,
        max_loss=outcome.max_loss,
        breakevens=outcome.breakevens,
        probability_of_profit=None
        if law is None
        else sum(law.probability(low, high) for low, high in outcome.profitable),
        expected_profit=None if law is None or len(times) > 1 else _expected_profit(legs, law),
        greeks=None if law is None else _net_greeks(legs, law),
        margin=None if spot is None else margin(legs, spot=spot),
    )


def _complete(leg: Leg, time_to_expiry: float | None, volatility: Volatility | None) -> Leg:
    if leg.strike is None:
        return leg
    given = volatility(leg.strike) if callable(volatility) else volatility
    return replace(
        leg,
        time_to_expiry=time_to_expiry if leg.time_to_expiry is None else leg.time_to_expiry,
        volatility=given if leg.volatility is None else leg.volatility,
    )


def _first_expiry(legs: Sequence[Leg], options: Sequence[Leg], rate: float, dividend_yield: float) -> HorizonOutcome:
    times = [leg.time_to_expiry for leg in options if leg.time_to_expiry is not None]
    if len(times) < len(options):
        raise ValueError("time_to_expiry must be given for every option leg, or for none")
    for leg in options:
        if leg.volatility is None:
            raise ValueError(
                f"volatility of the {leg.strike:g} {leg.kind} is needed: the legs expire at different times"
            )
    return first_expiry_outcome(legs, horizon=min(times), rate=rate, dividend_yield=dividend_yield)


def _law(
    options: Sequence[Leg],
    times: set[float | None],
    spot: float | None,
    rate: float,
    dividend_yield: float,
    volatility: Volatility | None,
) -> TerminalDistribution | None:
    known = [time for time in times if time is not None]
    if spot is None or not known or any(leg.volatility is None for leg in options):
        return None
    first = [leg.volatility for leg in options if leg.time_to_expiry == min(known) and leg.volatility is not None]
    if volatility is None and not first:
        return None
    return TerminalDistribution(
        spot=spot,
        time=min(known),
        rate=rate,
        dividend_yield=dividend_yield,
        volatility=sum(first) / len(first) if volatility is None else volatility,
    )


def _expected_profit(legs: Sequence[Leg], law: TerminalDistribution) -> float:
    return sum(leg.shares * (law.expected_payoff(leg.kind, leg.strike, leg.volatility) - leg.premium) for leg in legs)


def _net_greeks(legs: Sequence[Leg], law: TerminalDistribution) -> NetGreeks:
    options = [leg for leg in legs if leg.strike is not None]
    totals = np.zeros(5)
    if options:
        per_share = black_scholes.greeks(
            spot=law.spot,
            strike=padded(np.array([leg.strike for leg in options], float)),
            time_to_expiry=padded(np.array([leg.time_to_expiry for leg in options], float)),
            rate=law.rate,
            volatility=padded(np.array([leg.volatility for leg in options], float)),
            dividend_yield=law.dividend_yield,
            is_call=padded(np.array([leg.kind == "call" for leg in options])),
        )
        totals = np.asarray(per_share)[:, : len(options)] @ np.array([leg.shares for leg in options])
    totals[0] += sum(leg.shares for leg in legs if leg.kind == "stock")
    return NetGreeks(*(float(total) for total in totals))
