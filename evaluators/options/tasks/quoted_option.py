"""Options Pricing: judge a quote against a volatility that one believes in, and trade the difference hedged."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from evaluators.contract import Json
from evaluators.options.chain import (
    Holding,
    Position,
    Series,
    Underlying,
    draw_days,
    draw_size,
    draw_spot,
    draw_strike,
    draw_volatility,
    log_uniform,
)
from evaluators.options.problem import Figure, Figures, Problem, Requirement, Values
from evaluators.options.valuation import Shock, greeks, model_price, per_share_greeks, profits
from evaluators.options.wording import CONVENTIONS, PER_SHARE_GREEKS, percent, shock_figure
from pricing import implied_volatility


@dataclass(frozen=True, kw_only=True)
class QuotedOption(Problem):
    """See the module. The volatility of ``market`` is the believed one: the call is hedged and revalued at it."""

    family = "quoted_option"
    category = "Options Pricing"
    stock = True

    market: Underlying
    strike: float
    days: int
    quote: float
    contracts: int = 12
    move: float = 0.05

    @classmethod
    def draw(cls, rng: random.Random) -> QuotedOption:
        """Draw the parameters; the quote implies a volatility well away from the believed one."""
        spot, believed = draw_spot(rng), draw_volatility(rng)
        implied = believed * math.exp(rng.choice([-1, 1]) * log_uniform(rng, 0.08, 0.6))
        days, rate, dividend_yield = draw_days(rng, believed), rng.randint(4, 24) / 400, rng.randint(0, 12) / 400
        strike = draw_strike(rng, spot, believed, days)
        market = Underlying(spot=spot, rate=rate, dividend_yield=dividend_yield, volatility=believed)
        series = Series(kind="call", strike=strike, days=days, price=0.0, volatility=implied)
        return cls(
            market=market,
            strike=strike,
            days=days,
            quote=round(model_price(market, series), 2),
            contracts=draw_size(rng),
            move=round(log_uniform(rng, 0.02, 0.15), 3),
        )

    @cached_property
    def call(self) -> Series:
        """The call at its quote."""
        return Series(
            kind="call", strike=self.strike, days=self.days, price=self.quote, volatility=self.market.volatility
        )

    @cached_property
    def value(self) -> float:
        """Value of the call per share at the believed volatility."""
        return model_price(self.market, self.call)

    @cached_property
    def implied(self) -> float:
        """Volatility that the quote implies."""
        solved = implied_volatility.solve(
            price=self.quote,
            spot=self.market.spot,
            strike=self.strike,
            time_to_expiry=self.call.time_to_expiry,
            rate=self.market.rate,
            dividend_yield=self.market.dividend_yield,
        )
        return float(solved.value)

    @property
    def _side(self) -> int:
        return 1 if self.value > self.quote else -1

    @cached_property
    def _delta_of_calls(self) -> float:
        return 100 * self.contracts * per_share_greeks(self.market, self.call)["delta"]

    def tradable(self) -> Sequence[Series]:
        """Return the call."""
        return [self.call]

    def question(self) -> str:
        """Return the text."""
        market = self.market
        return (
            f"A stock trades at ${market.spot:g}. A call struck at ${self.strike:g} with {self.days} days to expiry is "
            f"quoted at ${self.quote:.2f} per share. The rate is {percent(market.rate)} and the dividend yield "
            f"{percent(market.dividend_yield)}. You are convinced that the right volatility is "
            f"{percent(market.volatility)}. Value the call at that volatility, find the volatility that the "
            f"quote implies, and trade {self.contracts} contracts of the call on the side that gains if you are right, "
            f"hedged with stock so that the delta of the whole, at your volatility, is within {self.contracts} "
            f"shares of zero. {CONVENTIONS}"
        )

    def words(self) -> dict[str, str]:
        """Return what stands in the braces of the texts."""
        return {"contracts": f"{self.contracts}"}

    def context(self) -> dict[str, Json]:
        """Return the market, the quote and the size."""
        return {
            "underlying": self.market.context(),
            "option": {"option_type": "call", "strike": self.strike, "days_to_expiry": self.days, "quote": self.quote},
            "contracts": self.contracts,
            "move": self.move,
        }

    def legs_wanted(self) -> str:
        """Return what the legs are."""
        return f"The legs are the {self.contracts} calls and the stock that hedges them."

    def figures(self) -> Figures:
        """Return value and implied volatility, Greeks per share, and what moves do to the hedged position."""
        gap = f"value less quote of {self.contracts} contracts in dollars, with its sign"
        at_implied = (
            "change of the model value of your position in dollars, with its sign, if your volatility gives way at "
            "once to the implied one"
        )
        return {
            "pnl": (
                Figure("model_value", "value of the call per share at your volatility, in dollars", 0.01),
                Figure("value_gap", gap, 5.0),
                Figure("implied_volatility", "volatility implied by the quote, as a decimal fraction", 0.001, 0.01),
            ),
            "greeks": PER_SHARE_GREEKS,
            "risk": (
                shock_figure("profit_after_fall", f"the stock falls by {percent(self.move)}"),
                shock_figure("profit_after_rise", f"the stock rises by {percent(self.move)}"),
                Figure("profit_at_implied", at_implied, 20.0, of_legs=True),
            ),
        }

    def fixed(self) -> Values:
        """Return the figures of the option."""
        return {
            "model_value": self.value,
            "value_gap": 100 * self.contracts * (self.value - self.quote),
            "implied_volatility": self.implied,
            **per_share_greeks(self.market, self.call),
        }

    def of_legs(self, position: Position) -> Values:
        """Return the revaluations of the position."""
        names = ("profit_after_fall", "profit_after_rise", "profit_at_implied")
        shocks = [
            Shock(spot_change=-self.move),
            Shock(spot_change=self.move),
            Shock(volatility_change=self.implied - self.market.volatility),
        ]
        return dict(zip(names, profits(position, self.market, shocks), strict=True))

    def structure(self, position: Position) -> Sequence[Requirement]:
        """Return whether it is the hedged trade in the right direction."""
        held = sum(holding.quantity for holding in position if holding.series)
        return [
            Requirement(f"holds {self.contracts} contracts", abs(held) == self.contracts),
            Requirement("gains if the believed volatility is right", held * self._side > 0),
            Requirement("is hedged with stock", any(holding.series is None for holding in position)),
        ]

    def limits(self, position: Position) -> Sequence[Requirement]:
        """Return whether the hedge is good."""
        left = greeks(position, self.market).delta
        return [Requirement(f"position delta within {self.contracts} shares of zero", abs(left) <= self.contracts)]

    def solution(self) -> Position:
        """Return the calls and minus their delta."""
        return (
            Holding(self.call, self._side * self.contracts),
            Holding(None, -self._side * round(self._delta_of_calls)),
        )


PRINTED = QuotedOption(
    market=Underlying(spot=450.0, rate=0.0525, dividend_yield=0.0, volatility=0.45), strike=460.0, days=45, quote=18.50
)
