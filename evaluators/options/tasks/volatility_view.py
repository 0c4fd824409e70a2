"""Volatility Trading: buy volatility when the realised one is above the implied one, else sell it, loss limited."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from evaluators.contract import Json
from evaluators.options.chain import (
    Holding,
    Kind,
    Position,
    Series,
    Underlying,
    draw_market,
    draw_size,
    log_uniform,
    quoted_series,
)
from evaluators.options.problem import LEVEL_TOLERANCE, Figure, Figures, Problem, Requirement, Values
from evaluators.options.valuation import TRADING_DAYS_PER_YEAR, Shock, greeks, payoff, profits
from evaluators.options.wording import CHAIN_CONVENTIONS, greek_figures, percent, shock_figure

RETURNS = 20


@dataclass(frozen=True, kw_only=True)
class VolatilityView(Problem):
    """See the module. ``series`` holds eleven puts, then eleven calls, of the same strikes around the spot.

    The limits are wider than the figures of the solution by ``room`` (a fraction), which is not told.
    """

    family = "volatility_view"
    category = "Volatility Trading"

    market: Underlying
    series: tuple[Series, ...]
    closes: tuple[float, ...]
    contracts: int
    move: float
    room: float

    @classmethod
    def draw(cls, rng: random.Random) -> VolatilityView:
        """Draw closes whose volatility lies well away from the implied one, and a chain around the last close."""
        market, days, step = draw_market(rng, reach=5)
        target = market.volatility * rng.choice([log_uniform(rng, 0.3, 0.75), log_uniform(rng, 1.3, 3.0)])
        centre = round(market.spot / step) * step
        strikes = [centre + step * k for k in range(-5, 6)]
        kinds: list[Kind] = ["put"] * 11
        kinds += ["call"] * 11
        slope = -rng.uniform(0, 0.1)
        return cls(
            market=market,
            series=quoted_series(market, kinds=kinds, strikes=strikes * 2, days=[days] * 22, slope=slope),
            closes=draw_closes(rng, last=market.spot, volatility=target),
            contracts=draw_size(rng),
            move=round(market.volatility * math.sqrt(days / 365) * rng.uniform(0.5, 2.0), 3),
            room=rng.uniform(0.08, 0.25),
        )

    @cached_property
    def realised(self) -> float:
        """Standard deviation (n - 1) of the daily log returns, per year of 252 days."""
        returns = np.diff(np.log(np.asarray(self.closes)))
        return float(returns.std(ddof=1) * math.sqrt(TRADING_DAYS_PER_YEAR))

    @property
    def gap(self) -> float:
        """Realised less implied volatility."""
        return self.realised - self.market.volatility

    def tradable(self) -> Sequence[Series]:
        """Return the chain."""
        return self.series

    def solution(self) -> Position:
        """Return a straddle, or an iron butterfly where volatility is sold."""
        side = 1 if self.gap > 0 else -1
        body = (Holding(self.series[5], side * self.contracts), Holding(self.series[16], side * self.contracts))
        wings = (Holding(self.series[2], self.contracts), Holding(self.series[19], self.contracts))
        return body if side > 0 else (*body, *wings)

    @cached_property
    def allowed(self) -> dict[str, int]:
        """Limits: delta in shares, least vega in dollars per point, loss in dollars."""
        values, result = greeks(self.solution(), self.market), payoff(self.solution(), self.market)
        return {
            "delta": math.ceil(max(1.3 * abs(values.delta), 8.0 * self.contracts)),
            "vega": math.floor(abs(values.vega_per_point) / (1.0 + self.room)),
            "loss": math.ceil(result.max_loss * (1.0 + self.room) / 10) * 10,
        }

    def question(self) -> str:
        """Return the text."""
        allowed = self.allowed
        return (
            f"The last {len(self.closes)} daily closes of a stock are given, the last of them, ${self.market.spot:g}, "
            f"being its price now. Options on it imply {percent(self.market.volatility)} at the money. Compute the "
            "realised volatility (standard deviation with n - 1 of the daily log returns, 252 days a year) and trade "
            "as if it went on: buy volatility if it is above the implied one, sell it if it is below. Use calls and "
            "puts of the chain, with a limited loss and two breakevens, so that at expiry at most "
            f"${allowed['loss']:,} can be lost, the delta is within {allowed['delta']} shares of zero and the vega is "
            f"at least {allowed['vega']} dollars per percentage point in size. {CHAIN_CONVENTIONS}"
        )

    def words(self) -> dict[str, str]:
        """Return what stands in the braces of the texts."""
        allowed = self.allowed
        limits = {"loss": f"${allowed['loss']:,}", "delta": f"{allowed['delta']}", "vega": f"{allowed['vega']}"}
        return {"count": f"{len(self.closes)}", **limits}

    def context(self) -> dict[str, Json]:
        """Return the closes, the market and the chain."""
        return {
            "underlying": self.market.context(),
            "closes": list(self.closes),
            "chain": [item.context() for item in self.series],
            "contracts": self.contracts,
            "move": self.move,
        }

    def legs_wanted(self) -> str:
        """Return what the legs are."""
        return "The legs are your position."

    def figures(self) -> Figures:
        """Return the realised volatility and the figures of the chosen position."""
        moved = "change of the value of your position in dollars, with its sign, if every volatility moves by that gap"
        return {
            "pnl": (
                Figure("realised_volatility", "per year, as a decimal fraction", 0.001, 0.01),
                Figure("volatility_gap_points", "realised less implied volatility in percentage points", 0.1),
                Figure("profit_at_realised", moved, 5.0, of_legs=True),
                Figure("breakeven_low", "lower breakeven at expiry", 0.01, LEVEL_TOLERANCE, of_legs=True),
                Figure("breakeven_high", "upper breakeven at expiry", 0.01, LEVEL_TOLERANCE, of_legs=True),
            ),
            "greeks": greek_figures("your position", self.contracts),
            "risk": (
                Figure("max_loss", "largest loss at expiry in dollars", 1.0, of_legs=True),
                shock_figure("profit_after_fall", f"the stock falls by {percent(self.move)}"),
                shock_figure("profit_after_rise", f"the stock rises by {percent(self.move)}"),
            ),
        }

    def fixed(self) -> Values:
        """Return the figures of the closes."""
        return {"realised_volatility": self.realised, "volatility_gap_points": 100 * self.gap}

    def of_legs(self, position: Position) -> Values:
        """Return the figures of the position."""
        names = ("profit_after_fall", "profit_after_rise", "profit_at_realised")
        shocks = [Shock(spot_change=-self.move), Shock(spot_change=self.move), Shock(volatility_change=self.gap)]
        result = payoff(position, self.market)
        low, high = result.breakevens
        return {
            **dict(zip(names, profits(position, self.market, shocks), strict=True)),
            **greeks(position, self.market)._asdict(),
            "max_loss": result.max_loss,
            "breakeven_low": low,
            "breakeven_high": high,
        }

    def structure(self, position: Position) -> Sequence[Requirement]:
        """Return whether it is a position in volatility, on the right side."""
        kinds = {holding.series.kind for holding in position if holding.series}
        result, vega = payoff(position, self.market), greeks(position, self.market).vega_per_point
        return [
            Requirement("holds calls and puts", kinds == {"call", "put"}),
            Requirement("is on the side of volatility that the closes speak for", vega * self.gap > 0),
            Requirement("cannot lose without bound", math.isfinite(result.max_loss)),
            Requirement("breaks even at two prices", len(result.breakevens) == 2),
        ]

    def limits(self, position: Position) -> Sequence[Requirement]:
        """Return whether delta, vega and loss are within the limits."""
        given, allowed = greeks(position, self.market), self.allowed
        loss = payoff(position, self.market).max_loss
        return [
            Requirement(f"vega of at least {allowed['vega']} dollars", abs(given.vega_per_point) >= allowed["vega"]),
            Requirement(f"delta within {allowed['delta']} shares of zero", abs(given.delta) <= allowed["delta"]),
            Requirement(f"loss at most ${allowed['loss']:,}", loss <= allowed["loss"]),
        ]


def draw_closes(rng: random.Random, *, last: float, volatility: float) -> tuple[float, ...]:
    """Return daily closes, to the cent, that end at ``last``, drawn with a yearly ``volatility``."""
    generator = np.random.default_rng(rng.getrandbits(64))
    returns = generator.standard_normal(RETURNS) * volatility / math.sqrt(TRADING_DAYS_PER_YEAR)
    path = np.append(np.exp(-np.cumsum(returns)[::-1]), 1.0) * last
    return tuple(round(float(close), 2) for close in path)
