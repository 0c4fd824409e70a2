"""Risk Management: sell as many put spreads as the risk budget of an account allows."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from evaluators.contract import Json
from evaluators.options.chain import (
    CONTRACT_SIZE,
    Holding,
    Position,
    Series,
    Underlying,
    draw_market,
    draw_size,
    log_uniform,
    quoted_series,
)
from evaluators.options.problem import LEVEL_TOLERANCE, Figure, Figures, Problem, Requirement, Values
from evaluators.options.valuation import Outcome, Shock, cash_paid, greeks, payoff, profits, with_implied_volatility
from evaluators.options.wording import CHAIN_CONVENTIONS, greek_figures, percent

VOLATILITY_JUMP = 0.05
REACH = 9
"""Strikes below the spot that the two puts are drawn from."""


@dataclass(frozen=True, kw_only=True)
class SpreadSizing(Problem):
    """See the module. ``low`` is bought, ``high`` is sold; ``fall`` is a relative move."""

    family = "spread_sizing"
    category = "Risk Management"

    market: Underlying
    low: Series
    high: Series
    account: float
    risk_fraction: float
    fall: float

    @classmethod
    def draw(cls, rng: random.Random) -> SpreadSizing:
        """Draw a market and two puts below the spot."""
        market, days, step = draw_market(rng, reach=REACH)
        centre = round(market.spot / step) * step
        strikes = [centre + step * k for k in range(-REACH, 0)]
        slope = -rng.uniform(0.05, 0.2)
        chain = quoted_series(market, kinds=["put"] * REACH, strikes=strikes, days=[days] * REACH, slope=slope)
        width = rng.randint(1, 5)
        short = rng.randint(width, REACH - 1)
        low, high = chain[short - width], chain[short]
        size, fraction = draw_size(rng, 8), round(log_uniform(rng, 0.005, 0.1), 4)
        loss = (size + 0.5) * max(1.0, CONTRACT_SIZE * (high.strike - low.strike - high.price + low.price))
        return cls(
            market=market,
            low=low,
            high=high,
            account=float(round(loss / fraction)),
            risk_fraction=fraction,
            fall=round(log_uniform(rng, 0.02, 0.25), 3),
        )

    @property
    def budget(self) -> float:
        """Largest loss allowed, in dollars."""
        return self.account * self.risk_fraction

    @cached_property
    def one(self) -> Outcome:
        """Risk and reward of one spread."""
        return payoff((Holding(self.high, -1), Holding(self.low, 1)), self.market)

    @property
    def spreads(self) -> int:
        """Number of spreads that the budget allows."""
        return math.floor(self.budget / self.one.max_loss + 1e-9)

    def tradable(self) -> Sequence[Series]:
        """Return the two puts."""
        return self.low, self.high

    def solution(self) -> Position:
        """Return the largest position allowed."""
        size = max(self.spreads, 1)
        return Holding(self.high, -size), Holding(self.low, size)

    def question(self) -> str:
        """Return the text."""
        return (
            f"An account of ${self.account:,.0f} may lose at most {percent(self.risk_fraction)} of itself on one "
            f"trade. A put spread is to be sold on a stock at ${self.market.spot:g}: short the {self.high.strike:g} "
            f"put at ${self.high.price:.2f}, long the {self.low.strike:g} put at ${self.low.price:.2f}, both with "
            f"{self.high.days} days to expiry. Sell as many whole spreads as the limit allows; the broker blocks the "
            f"largest loss of each as buying power. {CHAIN_CONVENTIONS}"
        )

    def words(self) -> dict[str, str]:
        """Return what stands in the braces of the texts."""
        return {
            "account": f"${self.account:,.0f}",
            "fraction": percent(self.risk_fraction),
            "high": f"{self.high.strike:g}",
            "low": f"{self.low.strike:g}",
        }

    def context(self) -> dict[str, Json]:
        """Return the market, the puts and the account."""
        return {
            "underlying": self.market.context(),
            "chain": [self.low.context(), self.high.context()],
            "account": self.account,
            "risk_fraction": self.risk_fraction,
            "fall": self.fall,
        }

    def legs_wanted(self) -> str:
        """Return what the legs are."""
        return "The legs are all the spreads that you sell."

    def figures(self) -> Figures:
        """Return credit, loss and size, the Greeks of the position, and a crash."""
        crash = (
            "change of the value of your position in dollars, with its sign, if the stock falls by "
            f"{percent(self.fall)} and every volatility rises by 5 percentage points at once"
        )
        return {
            "pnl": (
                Figure("credit_per_spread", "cash received for one spread in dollars", 0.5),
                Figure("breakeven", "stock price at expiry of no profit", 0.01, LEVEL_TOLERANCE),
                Figure("total_credit", "cash received for your position in dollars", 1.0, of_legs=True),
            ),
            "greeks": greek_figures("your position", max(self.spreads, 1)),
            "risk": (
                Figure("max_loss_per_spread", "largest loss of one spread at expiry in dollars", 0.5),
                Figure("spreads", "number of spreads that the limit allows", 0.0, 0.0),
                Figure("buying_power", "buying power that they block, in dollars", 1.0),
                Figure("profit_after_crash", crash, 5.0, of_legs=True),
            ),
        }

    def fixed(self) -> Values:
        """Return the figures of one spread and of the size allowed."""
        return {
            "credit_per_spread": -self.one.cost,
            "breakeven": self.one.breakevens[0],
            "max_loss_per_spread": self.one.max_loss,
            "spreads": float(self.spreads),
            "buying_power": self.spreads * self.one.max_loss,
        }

    def of_legs(self, position: Position) -> Values:
        """Return the figures of the position."""
        crash = Shock(spot_change=-self.fall, volatility_change=VOLATILITY_JUMP)
        return {
            "total_credit": -cash_paid(position, self.market),
            **greeks(position, self.market)._asdict(),
            "profit_after_crash": profits(position, self.market, [crash])[0],
        }

    def structure(self, position: Position) -> Sequence[Requirement]:
        """Return whether it is this spread, sold."""
        held = {holding.series.strike: holding.quantity for holding in position if holding.series}
        sold, bought = held.get(self.high.strike, 0), held.get(self.low.strike, 0)
        return [
            Requirement("sells the upper put and buys as many of the lower", bought == -sold > 0),
            Requirement("at least half as many as the limit allows", 2 * -sold >= self.spreads),
        ]

    def limits(self, position: Position) -> Sequence[Requirement]:
        """Return whether the budget is kept, and used."""
        loss = payoff(position, self.market).max_loss
        return [
            Requirement(f"loss at most ${self.budget:,.0f}", loss <= self.budget),
            Requirement("one more spread would exceed the budget", loss + self.one.max_loss > self.budget),
        ]


def printed() -> SpreadSizing:
    """Return the published case: 370/360 puts for a credit of $2.50, $100,000 at 2%. The two quotes are ours."""
    market = Underlying(spot=380.0, rate=0.05, dividend_yield=0.0, volatility=0.22)
    low, high = (
        with_implied_volatility(market, Series(kind="put", strike=strike, days=30, price=price, volatility=0.0))
        for strike, price in ((360.0, 3.10), (370.0, 5.60))
    )
    return SpreadSizing(market=market, low=low, high=high, account=100_000.0, risk_fraction=0.02, fall=0.08)
