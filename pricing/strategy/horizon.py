"""Profit at the first of several expiries, where the later legs are still alive and worth their model price."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pricing import black_scholes
from pricing.padding import padded
from pricing.strategy.leg import Leg

Profit = Callable[[NDArray[np.float64]], NDArray[np.float64]]

_REACH = 8.0
_POINTS = 1025
_ZOOM = 33
_LEAST_PRICES = 40


@dataclass(frozen=True)
class HorizonOutcome:
    """Extremes and zeros of the profit at the first expiry.

    Attributes
    ----------
    max_profit, max_loss
        As in :class:`pricing.strategy.payoff.Payoff`.
    breakevens
        Stock prices, ascending, where the profit passes zero.
    profitable
        Open intervals of stock price with a profit.
    """

    max_profit: float
    max_loss: float
    breakevens: tuple[float, ...]
    profitable: tuple[tuple[float, float], ...]


def first_expiry_outcome(legs: Sequence[Leg], *, horizon: float, rate: float, dividend_yield: float) -> HorizonOutcome:
    """Outcome at ``horizon`` years, the earliest expiry, of legs that all have a time and a volatility."""
    profit = _profit(legs, horizon, rate, dividend_yield)
    prices = _grid(legs)
    values = profit(prices)
    slope, limit = _at_infinity(legs, horizon, rate, dividend_yield)
    high = max(_extreme(profit, prices, values, sign=1.0), limit) if slope <= 0.0 else math.inf
    low = min(_extreme(profit, prices, values, sign=-1.0), limit) if slope >= 0.0 else -math.inf
    roots = tuple(
        _root(profit, prices[index], prices[index + 1])
        for index in np.flatnonzero(np.sign(values[:-1]) * np.sign(values[1:]) < 0)
    )
    edges = (0.0, *roots, math.inf)
    inside = [0.5 * (low_edge + high_edge) for low_edge, high_edge in itertools.pairwise((0.0, *roots))]
    inside.append(float(prices[-1]))
    keep = profit(np.array(inside)) > 0.0
    intervals = tuple(pair for pair, good in zip(itertools.pairwise(edges), keep, strict=True) if good)
    return HorizonOutcome(high, -low, roots, intervals)


def _profit(legs: Sequence[Leg], horizon: float, rate: float, dividend_yield: float) -> Profit:
    options = [leg for leg in legs if leg.strike is not None]
    column = {
        "strike": np.array([leg.strike for leg in options], float),
        "time_to_expiry": np.array([max((leg.time_to_expiry or 0.0) - horizon, 0.0) for leg in options]),
        "volatility": np.array([leg.volatility or 0.0 for leg in options]),
        "is_call": np.array([leg.kind == "call" for leg in options]),
    }
    column = {name: padded(values)[:, None] for name, values in column.items()}
    shares = np.array([leg.shares for leg in options])
    stock = sum(leg.shares for leg in legs if leg.strike is None)
    cost = sum(leg.cost for leg in legs)

    def profit(prices: NDArray[np.float64]) -> NDArray[np.float64]:
        spot = padded(prices, least=_LEAST_PRICES)[None, :]
        each = black_scholes.price(spot=spot, rate=rate, dividend_yield=dividend_yield, **column)
        value: NDArray[np.float64] = shares @ np.asarray(each)[: shares.size, : prices.size] + stock * prices - cost
        return value

    return profit


def _grid(legs: Sequence[Leg]) -> NDArray[np.float64]:
    strikes = [leg.strike for leg in legs if leg.strike is not None]
    deviation = max((leg.volatility or 0.0) * math.sqrt(leg.time_to_expiry or 0.0) for leg in legs)
    reach = math.exp(min(max(_REACH * deviation, 1.0), 30.0))
    spread = np.geomspace(min(strikes) / reach, max(strikes) * reach, _POINTS)
    return np.unique(np.concatenate([[0.0], strikes, spread]))


def _at_infinity(legs: Sequence[Leg], horizon: float, rate: float, dividend_yield: float) -> tuple[float, float]:
    """Slope in the stock price beyond every strike, and the profit there where the slope is zero."""
    slope, limit, gross = 0.0, 0.0, 0.0
    for leg in legs:
        remaining = max((leg.time_to_expiry or horizon) - horizon, 0.0)
        limit -= leg.cost
        if leg.kind == "put":
            continue
        share = leg.shares * (1.0 if leg.strike is None else math.exp(-dividend_yield * remaining))
        slope, gross = slope + share, gross + abs(share)
        if leg.strike is not None:
            limit -= leg.shares * leg.strike * math.exp(-rate * remaining)
    return (0.0 if abs(slope) <= 1e-12 * gross else slope), limit


def _extreme(profit: Profit, prices: NDArray[np.float64], values: NDArray[np.float64], *, sign: float) -> float:
    best = -math.inf
    while True:
        index = int(np.argmax(sign * values))
        if sign * values[index] <= best:
            return sign * best
        best = sign * values[index]
        prices = np.linspace(prices[max(index - 1, 0)], prices[min(index + 1, prices.size - 1)], _ZOOM)
        values = profit(prices)


def _root(profit: Profit, low: float, high: float) -> float:
    while high - low > 4.0 * np.finfo(float).eps * high:
        prices = np.linspace(low, high, _ZOOM)
        values = profit(prices)
        index = int(np.flatnonzero(np.sign(values[:-1]) * np.sign(values[1:]) <= 0)[0])
        if (prices[index], prices[index + 1]) == (low, high):
            break
        low, high = float(prices[index]), float(prices[index + 1])
    return 0.5 * (low + high)
