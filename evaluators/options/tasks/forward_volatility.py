"""Volatility Trading: the volatility that two expiries imply for the time between them, traded with a calendar."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass, replace

from evaluators.contract import Json
from evaluators.options.chain import (
    Holding,
    Position,
    Series,
    Underlying,
    draw_market,
    draw_size,
    log_uniform,
    quoted_series,
)
from evaluators.options.problem import Figure, Figures, Problem, Requirement, Values
from evaluators.options.valuation import Shock, cash_paid, greeks, profits
from evaluators.options.wording import CHAIN_CONVENTIONS, greek_figures, percent, shock_figure


@dataclass(frozen=True, kw_only=True)
class ForwardVolatility(Problem):
    """See the module. ``believed`` is a volatility, ``move`` a relative move."""

    family = "forward_volatility"
    category = "Volatility Trading"

    market: Underlying
    front: Series
    back: Series
    believed: float
    contracts: int
    move: float

    @classmethod
    def draw(cls, rng: random.Random) -> ForwardVolatility:
        """Draw two calls at the money and a belief about the volatility between their expiries."""
        market, days, _ = draw_market(rng, reach=1)
        days_back = days + round(log_uniform(rng, 15, 250))
        later = replace(market, volatility=round(market.volatility * math.exp(rng.uniform(-0.25, 0.25)), 4))
        front = quoted_series(market, kinds=["call"], strikes=[market.spot], days=[days])[0]
        back = quoted_series(later, kinds=["call"], strikes=[market.spot], days=[days_back])[0]
        surprise = rng.choice([-1, 1]) * log_uniform(rng, 0.04, 0.6) * forward_volatility(front, back)
        return cls(
            market=market,
            front=front,
            back=back,
            believed=round(forward_volatility(front, back) + surprise, 3),
            contracts=draw_size(rng),
            move=round(log_uniform(rng, 0.02, 0.2), 3),
        )

    @property
    def forward(self) -> float:
        """Volatility implied for the time between the expiries."""
        return forward_volatility(self.front, self.back)

    @property
    def _side(self) -> int:
        return 1 if self.believed > self.forward else -1

    def tradable(self) -> Sequence[Series]:
        """Return the two calls."""
        return self.front, self.back

    def question(self) -> str:
        """Return the text."""
        return (
            f"Two calls on a stock at ${self.market.spot:g} share the strike ${self.front.strike:g}: one expires in "
            f"{self.front.days} days and implies {percent(self.front.volatility)}, the other in {self.back.days} days "
            f"and implies {percent(self.back.volatility)}. Compute the volatility that they imply for the time between "
            f"the two expiries (variances times time add up). You believe that it will be {percent(self.believed)}. "
            f"Trade a calendar spread of {self.contracts} contracts in these calls, one bought and one sold, on the "
            f"side that gains from the later option if you are right. {CHAIN_CONVENTIONS}"
        )

    def words(self) -> dict[str, str]:
        """Return what stands in the braces of the texts."""
        return {"believed": percent(self.believed), "contracts": f"{self.contracts}"}

    def context(self) -> dict[str, Json]:
        """Return the market, the calls and the belief."""
        return {
            "underlying": self.market.context(),
            "chain": [self.front.context(), self.back.context()],
            "believed_forward_volatility": self.believed,
            "contracts": self.contracts,
            "move": self.move,
        }

    def legs_wanted(self) -> str:
        """Return what the legs are."""
        return "The legs are your calendar spread."

    def figures(self) -> Figures:
        """Return the forward volatility and the figures of the spread."""
        later = (
            "change of the value of your position in dollars, with its sign, if the stock stands at "
            f"${self.market.spot:g} when the front call expires and the later call is then valued at your believed "
            "volatility"
        )
        return {
            "pnl": (
                Figure("forward_volatility", "per year, as a decimal fraction", 0.001, 0.01),
                Figure("forward_gap_points", "your belief less that, in percentage points, with its sign", 0.05),
                Figure("cost", "cash paid for the position in dollars, negative when received", 2.0, of_legs=True),
                Figure("profit_at_front_expiry", later, 5.0, of_legs=True),
            ),
            "greeks": greek_figures("your position", self.contracts),
            "risk": (
                shock_figure("profit_after_fall", f"the stock falls by {percent(self.move)}"),
                shock_figure("profit_after_rise", f"the stock rises by {percent(self.move)}"),
            ),
        }

    def fixed(self) -> Values:
        """Return the forward volatility and the gap."""
        return {"forward_volatility": self.forward, "forward_gap_points": 100 * (self.believed - self.forward)}

    def of_legs(self, position: Position) -> Values:
        """Return the figures of the spread."""
        names = ("profit_after_fall", "profit_after_rise", "profit_at_front_expiry")
        shocks = [
            Shock(spot_change=-self.move),
            Shock(spot_change=self.move),
            Shock(volatility_change=self.believed - self.back.volatility, days=self.front.days),
        ]
        return {
            "cost": cash_paid(position, self.market),
            **greeks(position, self.market)._asdict(),
            **dict(zip(names, profits(position, self.market, shocks), strict=True)),
        }

    def structure(self, position: Position) -> Sequence[Requirement]:
        """Return whether it is a calendar spread on the right side."""
        held = {holding.series.days: holding.quantity for holding in position if holding.series}
        near, far = held.get(self.front.days, 0), held.get(self.back.days, 0)
        size = near == -far and abs(far) == self.contracts
        return [
            Requirement(f"a calendar spread of {self.contracts} contracts", size),
            Requirement("gains if the believed volatility comes true", far * self._side > 0),
        ]

    def solution(self) -> Position:
        """Return the spread, the later call bought when the belief is above the forward volatility."""
        size = self._side * self.contracts
        return Holding(self.front, -size), Holding(self.back, size)


def forward_volatility(front: Series, back: Series) -> float:
    """Return the volatility between two expiries that total variances imply, NaN when variance would fall."""
    gained = back.volatility**2 * back.days - front.volatility**2 * front.days
    return math.sqrt(gained / (back.days - front.days)) if gained > 0 else math.nan
