"""P&L Attribution: compute the Greeks of a straddle, attribute its profit, and find the vega hedge that was missing."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

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
from evaluators.options.problem import Figure, Figures, Problem, Requirement, Values
from evaluators.options.valuation import Greeks, Shock, greeks, profits
from evaluators.options.wording import CHAIN_CONVENTIONS, attribution_figures, greek_figures, percent
from pricing import risk


@dataclass(frozen=True, kw_only=True)
class StraddleAttribution(Problem):
    """See the module. ``series``: call and put at the money, a put below, a call above. Negative contracts are sold."""

    family = "straddle_attribution"
    category = "P&L Attribution"

    market: Underlying
    series: tuple[Series, Series, Series, Series]
    contracts: int
    spot_change: float
    volatility_change: float
    days_passed: int

    @classmethod
    def draw(cls, rng: random.Random) -> StraddleAttribution:
        """Draw a market, the straddle, wings to hedge with, and what happened."""
        market, days, step = draw_market(rng, reach=6)
        centre = round(market.spot / step) * step
        strikes = [centre, centre, centre - rng.randint(1, 6) * step, centre + rng.randint(1, 6) * step]
        kinds: list[Kind] = ["call", "put", "put", "call"]
        slope = -rng.uniform(0.05, 0.2)
        call, put, low, high = quoted_series(market, kinds=kinds, strikes=strikes, days=[days] * 4, slope=slope)
        return cls(
            market=market,
            series=(call, put, low, high),
            contracts=rng.choice([-1, 1]) * draw_size(rng, 4),
            spot_change=rng.choice([-1, 1]) * round(log_uniform(rng, 0.01, 0.15), 3),
            volatility_change=rng.choice([-1, 1]) * round(market.volatility * log_uniform(rng, 0.02, 0.3), 3),
            days_passed=round(log_uniform(rng, 1, 12)),
        )

    @property
    def straddle(self) -> Position:
        """The position that made the profit."""
        return Holding(self.series[0], self.contracts), Holding(self.series[1], self.contracts)

    @property
    def wings(self) -> tuple[Series, Series]:
        """The series of the hedge."""
        return self.series[2], self.series[3]

    @cached_property
    def start(self) -> Greeks:
        """Greeks of the straddle at the start."""
        return greeks(self.straddle, self.market)

    @property
    def shock(self) -> Shock:
        """What happened."""
        return Shock(self.spot_change, self.volatility_change, self.days_passed)

    @cached_property
    def parts(self) -> risk.Attribution:
        """Profit of the straddle by Greek."""
        return risk.attribution(
            total=profits(self.straddle, self.market, [self.shock])[0],
            spot_change=self.market.spot * self.spot_change,
            volatility_change=100 * self.volatility_change,
            time_passed=self.days_passed,
            delta=self.start.delta,
            gamma=self.start.gamma,
            theta=self.start.theta_per_day,
            vega=self.start.vega_per_point,
        )

    @cached_property
    def _vega_of_pair(self) -> float:
        low, high = self.wings
        return greeks((Holding(low, 1), Holding(high, 1)), self.market).vega_per_point

    @property
    def _vega_limit(self) -> int:
        return math.ceil(0.8 * self._vega_of_pair)

    def tradable(self) -> Sequence[Series]:
        """Return the chain."""
        return self.series

    def question(self) -> str:
        """Return the text."""
        side = "bought" if self.contracts > 0 else "sold"
        rose, moved = ("rose" if change > 0 else "fell" for change in (self.volatility_change, self.spot_change))
        return (
            f"With a stock at ${self.market.spot:g} you {side} {abs(self.contracts)} straddles struck at "
            f"{self.series[0].strike:g} (as many calls as puts, the first two series of the chain). "
            f"{self.days_passed} days later the stock {moved} by {percent(abs(self.spot_change))} and every implied "
            f"volatility {rose} by {abs(100 * self.volatility_change):g} percentage points. Compute the Greeks at the "
            "start, the exact profit by revaluation, and the parts of it that delta, gamma (one half of gamma times "
            "the squared move), theta and vega explain. Also find a position in the other two series which, taken at "
            f"the start, would have brought the vega of the whole to within {self._vega_limit} dollars per percentage "
            f"point of zero. {CHAIN_CONVENTIONS}"
        )

    def words(self) -> dict[str, str]:
        """Return what stands in the braces of the texts."""
        return {
            "side": "bought" if self.contracts > 0 else "sold",
            "count": f"{abs(self.contracts)}",
            "strike": f"{self.series[0].strike:g}",
            "days": f"{self.days_passed}",
            "moved": "rose" if self.spot_change > 0 else "fell",
            "move": percent(abs(self.spot_change)),
            "went": "rose" if self.volatility_change > 0 else "fell",
            "points": f"{abs(100 * self.volatility_change):g}",
            "vega": f"{self._vega_limit}",
        }

    def context(self) -> dict[str, Json]:
        """Return the market, the chain and what happened."""
        return {
            "underlying": self.market.context(),
            "chain": [item.context() for item in self.series],
            "straddles": self.contracts,
            "spot_change": self.spot_change,
            "volatility_change": self.volatility_change,
            "days_passed": self.days_passed,
        }

    def legs_wanted(self) -> str:
        """Return what the legs are."""
        return "The legs are the vega hedge alone."

    def figures(self) -> Figures:
        """Return the parts of the profit, the Greeks, and stress of the straddle."""
        higher = (
            "change of the value of the straddles at the start, in dollars, if every volatility rises by 5 percentage "
            "points at once"
        )
        crash = "the same if the stock falls by 20% and every volatility rises by 10 percentage points at once"
        hedge = "exact profit of your hedge over the period in dollars, with its sign"
        return {
            "pnl": attribution_figures("the straddles"),
            "greeks": greek_figures("the straddles at the start", abs(self.contracts), of_legs=False),
            "risk": (
                Figure("profit_at_higher_volatility", higher, 5.0),
                Figure("profit_after_crash", crash, 5.0),
                Figure("hedge_total", hedge, 5.0, of_legs=True),
            ),
        }

    def fixed(self) -> Values:
        """Return the figures of the straddle."""
        shocks = [Shock(volatility_change=0.05), Shock(spot_change=-0.2, volatility_change=0.1)]
        higher, crash = profits(self.straddle, self.market, shocks)
        return {
            "total": self.parts.total,
            "delta_pnl": self.parts.delta,
            "gamma_pnl": self.parts.gamma,
            "theta_pnl": self.parts.theta,
            "vega_pnl": self.parts.vega,
            **self.start._asdict(),
            "profit_at_higher_volatility": higher,
            "profit_after_crash": crash,
        }

    def of_legs(self, position: Position) -> Values:
        """Return the profit of the hedge."""
        return {"hedge_total": profits(position, self.market, [self.shock])[0]}

    def _left(self, position: Position) -> float:
        return abs(self.start.vega_per_point + greeks(position, self.market).vega_per_point)

    def structure(self, position: Position) -> Sequence[Requirement]:
        """Return whether it is a vega hedge in the wings."""
        halved = self._left(position) <= abs(self.start.vega_per_point) / 2
        return [
            Requirement("uses the two outer series only", all(holding.series in self.wings for holding in position)),
            Requirement("at least halves the vega", halved),
        ]

    def limits(self, position: Position) -> Sequence[Requirement]:
        """Return whether it is a good one."""
        limit = self._vega_limit
        return [Requirement(f"vega within {limit} dollars per point of zero", self._left(position) <= limit)]

    def solution(self) -> Position:
        """Return as many of both wings as take the vega away."""
        pairs = -round(self.start.vega_per_point / self._vega_of_pair) or 1
        low, high = self.wings
        return Holding(low, pairs), Holding(high, pairs)
