"""Strategy Construction: sell an iron condor within limits on loss, stress, credit and probability."""

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
    quoted_series,
)
from evaluators.options.problem import LEVEL_TOLERANCE, Figure, Figures, Requirement, Values
from evaluators.options.tasks.chain_spread import ChainSpread
from evaluators.options.valuation import payoff, with_implied_volatility
from evaluators.options.wording import CHAIN_CONVENTIONS, greek_figures, percent, probability_figure, shock_figure

REACH = 10
"""Strikes of the chain on either side of the spot."""


@dataclass(frozen=True, kw_only=True)
class IronCondor(ChainSpread):
    """See the module. ``reference`` holds the places in ``series`` of the condor that sets the limits.

    The limits are wider than its figures by ``room`` (a fraction), which is not told: they do not give a figure away.
    """

    family = "iron_condor"
    category = "Strategy Construction"

    reference: tuple[int, int, int, int]
    room: float = 0.15

    @classmethod
    def draw(cls, rng: random.Random) -> IronCondor:
        """Draw a market, its chain and a condor that sets the limits."""
        market, days, step = draw_market(rng, reach=REACH)
        deviation = market.volatility * math.sqrt(days / 365)
        centre = round(market.spot / step) * step
        strikes = [centre + step * k for k in (*range(-REACH, 0), *range(1, REACH + 1))]
        kinds: list[Kind] = ["put"] * REACH
        kinds += ["call"] * REACH
        slope = -rng.uniform(0.05, 0.25)
        series = quoted_series(market, kinds=kinds, strikes=strikes, days=[days] * len(strikes), slope=slope)
        width = rng.randint(1, 5)
        short_put, short_call = rng.randint(width, REACH - 1), REACH + rng.randint(0, REACH - 1 - width)
        return cls(
            market=market,
            series=series,
            contracts=draw_size(rng),
            move=round(deviation * rng.uniform(0.5, 2.0), 3),
            reference=(short_put - width, short_put, short_call, short_call + width),
            room=rng.uniform(0.08, 0.25),
        )

    def solution(self) -> Position:
        """Return the condor that sets the limits."""
        quantities = (self.contracts, -self.contracts, -self.contracts, self.contracts)
        return tuple(
            Holding(self.series[place], quantity) for place, quantity in zip(self.reference, quantities, strict=True)
        )

    @cached_property
    def allowed(self) -> dict[str, float]:
        """Limits on loss, credit, stress and probability, the first three in dollars."""
        solution = self.solution()
        result = payoff(solution, self.market)
        wider = 1.0 + self.room
        return {
            "loss": math.ceil(result.max_loss * wider / 5) * 5,
            "credit": math.floor(-result.cost / wider / 5) * 5,
            "stress": math.ceil(-min(self.after_jumps(solution)) * wider / 5) * 5,
            "probability": math.floor(100 * (self.probability(solution) - self.room / 2)) / 100,
        }

    def is_sound(self) -> bool:
        """Return whether, besides, each of the four limits excludes something."""
        allowed = self.allowed
        return allowed["credit"] > 0 and allowed["stress"] > 0 and allowed["probability"] > 0 and super().is_sound()

    def question(self) -> str:
        """Return the text."""
        allowed = self.allowed
        return (
            f"You expect an index, now at {self.market.spot:g}, to stay calm for {self.days} days. From the quoted "
            f"series build an iron condor of {self.contracts} contracts: sell a put and a call, buy a put further down "
            f"and a call further up, the same number of each. It may lose at most ${allowed['loss']:,.0f} at expiry, "
            f"must not lose more than ${allowed['stress']:,.0f} of its value if the index jumps by "
            f"{percent(self.move)} either way at once, must bring a credit of at least ${allowed['credit']:,.0f}, and "
            f"must make money with a risk-neutral probability of at least {allowed['probability']:.0%} (lognormal "
            f"price at expiry with the volatility {percent(self.market.volatility)}, drift rate less dividend yield). "
            f"{CHAIN_CONVENTIONS}"
        )

    def words(self) -> dict[str, str]:
        """Return what stands in the braces of the texts."""
        allowed = self.allowed
        dollars = {name: f"${allowed[name]:,.0f}" for name in ("loss", "stress", "credit")}
        chance = f"{allowed['probability']:.0%}"
        return {"contracts": f"{self.contracts}", "move": percent(self.move), "chance": chance, **dollars}

    def legs_wanted(self) -> str:
        """Return what the legs are."""
        return "The legs are your iron condor."

    def figures(self) -> Figures:
        """Return the figures of the chosen condor."""
        return {
            "pnl": (
                Figure("max_profit", "largest profit at expiry in dollars", 1.0, of_legs=True),
                Figure("max_loss", "largest loss at expiry in dollars", 1.0, of_legs=True),
                Figure("breakeven_low", "lower breakeven", 0.01, LEVEL_TOLERANCE, of_legs=True),
                Figure("breakeven_high", "upper breakeven", 0.01, LEVEL_TOLERANCE, of_legs=True),
                probability_figure(
                    "probability_of_profit",
                    "as a decimal fraction: of a lognormal price at expiry with the volatility of the underlying, "
                    "drift rate less dividend yield",
                ),
            ),
            "greeks": greek_figures("your position", self.contracts),
            "risk": (
                shock_figure("profit_after_fall", f"the index falls by {percent(self.move)}"),
                shock_figure("profit_after_rise", f"the index rises by {percent(self.move)}"),
                Figure("return_on_risk", "largest profit divided by largest loss", 0.002, of_legs=True),
            ),
        }

    def of_legs(self, position: Position) -> Values:
        """Return the figures of a condor. One that cannot lose or cannot win has no breakevens or no ratio."""
        result, values = payoff(position, self.market), self.common_figures(position)
        if result.max_loss > 0:
            values["return_on_risk"] = result.max_profit / result.max_loss
        if len(result.breakevens) == 2:
            values["breakeven_low"], values["breakeven_high"] = result.breakevens
        return values

    def structure(self, position: Position) -> Sequence[Requirement]:
        """Return what makes a position an iron condor of this size."""
        held = sorted(
            ((h.series.strike, h.series.kind, h.quantity) for h in position if h.series), key=lambda row: row[:2]
        )
        signs = [self.contracts, -self.contracts, -self.contracts, self.contracts]
        return [
            Requirement("two puts below two calls", [kind for _, kind, _ in held] == ["put", "put", "call", "call"]),
            Requirement("four different strikes", len({strike for strike, _, _ in held}) == 4),
            Requirement(
                f"{self.contracts} contracts each: wings bought, body sold", [count for *_, count in held] == signs
            ),
        ]

    def limits(self, position: Position) -> Sequence[Requirement]:
        """Return whether the four limits are kept."""
        result, allowed = payoff(position, self.market), self.allowed
        chance = self.probability(position)
        jump = -min(self.after_jumps(position))
        return [
            Requirement(f"loss at most ${allowed['loss']:,.0f}", result.max_loss <= allowed["loss"]),
            Requirement(f"credit at least ${allowed['credit']:,.0f}", -result.cost >= allowed["credit"]),
            Requirement(f"loses at most ${allowed['stress']:,.0f} in a jump", jump <= allowed["stress"]),
            Requirement(
                f"probability of profit at least {allowed['probability']:.0%}", chance >= allowed["probability"]
            ),
        ]


def printed() -> IronCondor:
    """Return the published condor on an index at 4500: quotes 8, 12, 11 and 7. The rate and the days are ours."""
    market = Underlying(spot=4500.0, rate=0.05, dividend_yield=0.015, volatility=0.12)
    quotes: tuple[tuple[Kind, float, float], ...] = (
        ("put", 4400.0, 8.0),
        ("put", 4420.0, 12.0),
        ("call", 4580.0, 11.0),
        ("call", 4600.0, 7.0),
    )
    series = tuple(
        with_implied_volatility(market, Series(kind=kind, strike=strike, days=30, price=price, volatility=0.0))
        for kind, strike, price in quotes
    )
    return IronCondor(market=market, series=series, contracts=1, move=0.03, reference=(0, 1, 2, 3))
