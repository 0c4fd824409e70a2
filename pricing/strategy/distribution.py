"""The stock price at expiry that option prices imply: lognormal, or read off a smile."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from statistics import NormalDist

from pricing import black_scholes
from pricing.strategy.leg import Kind

_NORMAL = NormalDist()


@dataclass(frozen=True, kw_only=True)
class TerminalDistribution:
    """Risk-neutral law of the stock price after ``time`` years.

    Attributes
    ----------
    spot
        Price now, > 0.
    time
        Years, >= 0.
    rate, dividend_yield
        Continuously compounded, per year.
    volatility
        One number (lognormal law), or a function from strike to implied volatility. The distribution function under a
        smile is that of Breeden and Litzenberger (1978): the slope of the put price in strike, smile included.
    """

    spot: float
    time: float
    rate: float
    dividend_yield: float
    volatility: float | Callable[[float], float]

    def __post_init__(self) -> None:
        if not (math.isfinite(self.spot) and self.spot > 0):
            raise ValueError(f"spot must be finite and > 0, got {self.spot!r}")
        if not (math.isfinite(self.time) and self.time >= 0):
            raise ValueError(f"time_to_expiry must be finite and >= 0, got {self.time!r}")

    @property
    def forward(self) -> float:
        """Mean of the price at expiry."""
        return self.spot * math.exp((self.rate - self.dividend_yield) * self.time)

    def volatility_at(self, strike: float) -> float:
        """Volatility used at one strike."""
        return self.volatility(strike) if callable(self.volatility) else self.volatility

    def probability_below(self, price: float) -> float:
        """Probability that the stock ends below ``price``."""
        if price <= 0.0:
            return 0.0
        if math.isinf(price):
            return 1.0
        deviation = self.volatility_at(price) * math.sqrt(self.time)
        if deviation == 0.0:
            return float(self.forward < price)
        d2 = math.log(self.forward / price) / deviation - 0.5 * deviation
        below = _NORMAL.cdf(-d2)
        if callable(self.volatility):
            step = 1e-4 * price
            slope = (self.volatility(price + step) - self.volatility(price - step)) / (2.0 * step)
            below += price * _NORMAL.pdf(d2) * math.sqrt(self.time) * slope
        return below

    def probability(self, low: float, high: float) -> float:
        """Probability that the stock ends between two prices."""
        return self.probability_below(high) - self.probability_below(low)

    def expected_payoff(self, kind: Kind, strike: float | None, volatility: float | None = None) -> float:
        """Mean of the value at expiry of one share's worth of a leg, not discounted, at its own volatility if given."""
        if kind == "stock" or strike is None:
            return self.forward
        value = black_scholes.price(
            spot=self.spot,
            strike=strike,
            time_to_expiry=self.time,
            rate=self.rate,
            volatility=self.volatility_at(strike) if volatility is None else volatility,
            dividend_yield=self.dividend_yield,
            is_call=kind == "call",
        )
        return float(value) * math.exp(self.rate * self.time)
