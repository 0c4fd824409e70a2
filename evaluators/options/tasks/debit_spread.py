"""Strategy Construction: buy a call spread or a put spread within limits on cost, reward and probability."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

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
from evaluators.options.problem import LEVEL_TOLERANCE, Figure, Figures, Requirement, Values
from evaluators.options.tasks.chain_spread import ChainSpread
from evaluators.options.valuation import payoff, with_implied_volatility
from evaluators.options.wording import CHAIN_CONVENTIONS, greek_figures, percent, probability_figure, shock_figure

REACH = 8
"""Strikes of the chain on either side of the spot."""


@dataclass(frozen=True, kw_only=True)
class DebitSpread(ChainSpread):
    """See the module. ``bought`` and ``sold`` are the places in ``series`` of the spread that sets the limits."""

    family = "debit_spread"
    category = "Strategy Construction"

    bought: int
    sold: int

    @classmethod
    def draw(cls, rng: random.Random) -> DebitSpread:
        """Draw a market, a chain of calls or puts, and the spread that sets the limits."""
        market, days, step = draw_market(rng, reach=REACH)
        kind: Kind = rng.choice(("call", "put"))
        centre = round(market.spot / step) * step
        strikes = [centre + step * k for k in range(-REACH, REACH + 1)]
        slope = -rng.uniform(0.05, 0.2)
        series = quoted_series(
            market, kinds=[kind] * len(strikes), strikes=strikes, days=[days] * len(strikes), slope=slope
        )
        width = rng.randint(1, 6)
        near = rng.randint(REACH - 4, min(REACH + 4, 2 * REACH - width))
        bought = near if kind == "call" else 2 * REACH - near
        return cls(
            market=market,
            series=series,
            contracts=draw_size(rng),
            bought=bought,
            sold=bought + (width if kind == "call" else -width),
            move=round(log_uniform(rng, 0.02, 0.15), 3),
        )

    @property
    def _rising(self) -> bool:
        return self.series[0].kind == "call"

    @property
    def _name(self) -> str:
        return f"{'bull call' if self._rising else 'bear put'} spread"

    def solution(self) -> Position:
        """Return the spread that sets the limits."""
        return (
            Holding(self.series[self.bought], self.contracts),
            Holding(self.series[self.sold], -self.contracts),
        )

    @cached_property
    def cost_limit(self) -> int:
        """Largest cost in dollars."""
        return math.ceil(1.03 * payoff(self.solution(), self.market).max_loss / 5) * 5

    @cached_property
    def ratio_floor(self) -> float:
        """Least reward per risk."""
        result = payoff(self.solution(), self.market)
        return math.floor(97 * result.max_profit / result.max_loss) / 100

    @cached_property
    def probability_floor(self) -> float:
        """Least risk-neutral probability of a profit: without it the cheapest spread would always do."""
        return math.floor(100 * (self.probability(self.solution()) - 0.005)) / 100

    def is_sound(self) -> bool:
        """Return whether the limit on the probability is one."""
        return self.probability_floor > 0 and super().is_sound()

    def question(self) -> str:
        """Return the text."""
        return (
            f"You expect a stock, now at ${self.market.spot:g}, to {'rise' if self._rising else 'fall'} within "
            f"{self.days} days. From the quoted {self.series[0].kind}s build a {self._name} of "
            f"{self.contracts} contracts (buy one strike, sell another further {'up' if self._rising else 'down'}) "
            f"that costs at most ${self.cost_limit:,}, whose largest profit is at least {self.ratio_floor:g} times "
            f"its largest loss and whose risk-neutral probability of a profit at expiry is at least "
            f"{self.probability_floor:.0%}. {CHAIN_CONVENTIONS}"
        )

    def words(self) -> dict[str, str]:
        """Return what stands in the braces of the texts."""
        return {
            "direction": "rise" if self._rising else "fall",
            "further": "up" if self._rising else "down",
            "name": self._name,
            "contracts": f"{self.contracts}",
            "cost": f"${self.cost_limit:,}",
            "ratio": f"{self.ratio_floor:g}",
            "chance": f"{self.probability_floor:.0%}",
        }

    def legs_wanted(self) -> str:
        """Return what the legs are."""
        return f"The legs are your {self._name}."

    def figures(self) -> Figures:
        """Return the figures of the chosen spread."""
        probability = (
            "risk-neutral probability of a profit at expiry as a decimal fraction (lognormal price with the volatility "
            "of the underlying, drift rate less dividend yield)"
        )
        return {
            "pnl": (
                Figure("cost", "cash paid for the position in dollars", 1.0, of_legs=True),
                Figure("max_profit", "largest profit at expiry in dollars", 1.0, of_legs=True),
                Figure("breakeven", "stock price at expiry of no profit", 0.01, LEVEL_TOLERANCE, of_legs=True),
                probability_figure("probability_of_profit", probability),
            ),
            "greeks": greek_figures("your position", self.contracts),
            "risk": (
                Figure("max_loss", "largest loss at expiry in dollars", 1.0, of_legs=True),
                Figure("reward_to_risk", "largest profit divided by largest loss", 0.002, of_legs=True),
                shock_figure("profit_after_fall", f"the stock falls by {percent(self.move)}"),
                shock_figure("profit_after_rise", f"the stock rises by {percent(self.move)}"),
            ),
        }

    def of_legs(self, position: Position) -> Values:
        """Return the figures of a spread. One that cannot lose has no ratio, one that cannot win no breakeven."""
        result = payoff(position, self.market)
        values = {"cost": result.cost, **self.common_figures(position)}
        if result.max_loss > 0:
            values["reward_to_risk"] = result.max_profit / result.max_loss
        if len(result.breakevens) == 1:
            values["breakeven"] = result.breakevens[0]
        return values

    def structure(self, position: Position) -> Sequence[Requirement]:
        """Return what makes a position this spread of this size."""
        held = sorted((h.series.strike, h.quantity) for h in position if h.series)
        wanted = [self.contracts, -self.contracts] if self._rising else [-self.contracts, self.contracts]
        return [
            Requirement("two series of different strikes", len({strike for strike, _ in held}) == len(held) == 2),
            Requirement(f"a {self._name} of {self.contracts} contracts", [count for _, count in held] == wanted),
        ]

    def limits(self, position: Position) -> Sequence[Requirement]:
        """Return whether cost, reward and probability are within the limits."""
        result = payoff(position, self.market)
        rewarding = result.max_profit >= self.ratio_floor * result.max_loss
        chance = self.probability(position)
        return [
            Requirement(f"costs at most ${self.cost_limit:,}", result.max_loss <= self.cost_limit),
            Requirement(f"reward at least {self.ratio_floor:g} times the risk", rewarding),
            Requirement(
                f"probability of profit at least {self.probability_floor:.0%}", chance >= self.probability_floor
            ),
        ]


def printed() -> DebitSpread:
    """Return the published trade: 185/190 calls for $2.30 with the stock at $182. The two quotes are ours."""
    market = Underlying(spot=182.0, rate=0.05, dividend_yield=0.0, volatility=0.25)
    series = tuple(
        with_implied_volatility(market, Series(kind="call", strike=strike, days=30, price=price, volatility=0.0))
        for strike, price in ((185.0, 4.10), (190.0, 1.80))
    )
    return DebitSpread(market=market, series=series, contracts=1, bought=0, sold=1, move=0.05)
