"""Profit and loss at expiry as an exact piecewise linear function of the stock price.

Arithmetic is in fractions of the decimal figures that the legs were written with, so a breakeven of 4412 is 4412.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from pricing.strategy.leg import Leg


@dataclass(frozen=True)
class Payoff:
    """Profit of a set of legs that expire together, premiums included.

    Attributes
    ----------
    prices
        Stock prices where the slope may change: 0 and every strike, ascending.
    profits
        Profit at each of ``prices``.
    final_slope
        Profit per 1.00 of stock price above the highest strike.
    """

    prices: tuple[Fraction, ...]
    profits: tuple[Fraction, ...]
    final_slope: Fraction

    @property
    def max_profit(self) -> float:
        """Largest profit; ``inf`` when it grows without bound."""
        return float("inf") if self.final_slope > 0 else float(max(self.profits))

    @property
    def max_loss(self) -> float:
        """Largest loss, positive; ``inf`` when it grows without bound; negative when every outcome is a profit."""
        return float("inf") if self.final_slope < 0 else float(-min(self.profits))

    @functools.cached_property
    def breakevens(self) -> tuple[float, ...]:
        """Stock prices, ascending, where the profit passes or touches zero; for a flat zero stretch its two ends."""
        found: set[Fraction] = {price for price, profit in zip(self.prices, self.profits, strict=True) if profit == 0}
        for left in range(len(self.prices) - 1):
            start, end = self.profits[left], self.profits[left + 1]
            if start * end < 0:
                width = self.prices[left + 1] - self.prices[left]
                found.add(self.prices[left] + width * start / (start - end))
        if self.profits[-1] * self.final_slope < 0:
            found.add(self.prices[-1] - self.profits[-1] / self.final_slope)
        return tuple(float(price) for price in sorted(found))

    @functools.cached_property
    def profitable(self) -> tuple[tuple[float, float], ...]:
        """Open intervals of stock price with a profit, ascending."""
        edges = (0.0, *(price for price in self.breakevens if price > 0.0), float("inf"))
        return tuple((low, high) for low, high in itertools.pairwise(edges) if self._inside(low, high) > 0)

    def _inside(self, low: float, high: float) -> Fraction:
        left = Fraction(low)
        return self.at(left + 1 if high == float("inf") else (left + Fraction(high)) / 2)

    def at(self, price: Fraction) -> Fraction:
        """Profit at one stock price, >= 0."""
        for left in range(len(self.prices) - 1):
            if price < self.prices[left + 1]:
                slope = (self.profits[left + 1] - self.profits[left]) / (self.prices[left + 1] - self.prices[left])
                return self.profits[left] + slope * (price - self.prices[left])
        return self.profits[-1] + self.final_slope * (price - self.prices[-1])


@functools.lru_cache(maxsize=1024)
def exact(value: float) -> Fraction:
    """Fraction of the shortest decimal that writes ``value``."""
    return Fraction(repr(float(value)))


def leg_profit(leg: Leg, price: Fraction) -> Fraction:
    """Profit of one leg when the stock ends at ``price``."""
    if leg.kind == "stock" or leg.strike is None:
        value = price
    elif leg.kind == "call":
        value = max(price - exact(leg.strike), Fraction(0))
    else:
        value = max(exact(leg.strike) - price, Fraction(0))
    return exact(leg.quantity) * exact(leg.contract_size) * (value - exact(leg.premium))


def payoff(legs: Sequence[Leg]) -> Payoff:
    """Profit at expiry of legs that expire together."""
    prices = tuple(sorted({Fraction(0), *(exact(leg.strike) for leg in legs if leg.strike is not None)}))
    profits = tuple(sum((leg_profit(leg, price) for leg in legs), Fraction(0)) for price in prices)
    beyond = sum((leg_profit(leg, prices[-1] + 1) for leg in legs), Fraction(0))
    return Payoff(prices=prices, profits=profits, final_slope=beyond - profits[-1])
