"""Options Pricing: value a call and a put, judge a long call, and build synthetic stock from the two."""

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
from evaluators.options.problem import LEVEL_TOLERANCE, Figure, Figures, Problem, Requirement, Values
from evaluators.options.valuation import (
    Shock,
    daily_value_at_risk,
    greeks,
    model_prices,
    per_share_greeks,
    profit_at_expiry,
    profits,
)
from evaluators.options.wording import CONVENTIONS, PER_SHARE_GREEKS, VALUE_AT_RISK, percent


@dataclass(frozen=True, kw_only=True)
class FairValue(Problem):
    """See the module. ``synthetic_shares`` is negative for a short position, ``fall`` a relative move."""

    family = "fair_value"
    category = "Options Pricing"

    market: Underlying
    strike: float
    days: int
    contracts: int = 8
    synthetic_shares: int = 700
    end_price: float = 195.0
    fall: float = 0.06

    @classmethod
    def draw(cls, rng: random.Random) -> FairValue:
        """Draw the parameters."""
        spot, volatility = draw_spot(rng), draw_volatility(rng)
        days = draw_days(rng, volatility)
        strike = draw_strike(rng, spot, volatility, days)
        reach = 1 + volatility * math.sqrt(days / 365) * rng.uniform(0.5, 3.0)
        rate, dividend_yield = rng.randint(4, 22) / 400, rng.randint(0, 12) / 400
        return cls(
            market=Underlying(spot=spot, rate=rate, dividend_yield=dividend_yield, volatility=volatility),
            strike=strike,
            days=days,
            contracts=draw_size(rng),
            synthetic_shares=100 * rng.choice([-1, 1]) * draw_size(rng),
            end_price=float(round(strike * reach)),
            fall=round(log_uniform(rng, 0.02, 0.25), 3),
        )

    @cached_property
    def options(self) -> tuple[Series, Series]:
        """The call and the put at their values."""
        call, put = (
            Series(kind=kind, strike=self.strike, days=self.days, price=0.0, volatility=self.market.volatility)
            for kind in ("call", "put")
        )
        prices = model_prices(self.market, (call, put))
        return call.at(prices[0]), put.at(prices[1])

    def tradable(self) -> Sequence[Series]:
        """Return the call and the put."""
        return self.options

    def question(self) -> str:
        """Return the text."""
        market = self.market
        return (
            f"A stock trades at ${market.spot:g}. A call and a put on it are both struck at ${self.strike:g} and "
            f"expire in {self.days} days. The rate is {percent(market.rate)}, the dividend yield "
            f"{percent(market.dividend_yield)} and the volatility {percent(market.volatility)}. Value both options. "
            f"Then take a position long {self.contracts} of the calls, bought at that value, and judge its profit, its "
            "Greeks per share and its risk. Finally, use this call and this put alone to build a position that gains "
            f"and loses at expiry like {abs(self.synthetic_shares)} shares of stock held {self._side}. {CONVENTIONS}"
        )

    @property
    def _side(self) -> str:
        return "long" if self.synthetic_shares > 0 else "short"

    def words(self) -> dict[str, str]:
        """Return what stands in the braces of the texts."""
        return {
            "contracts": f"{self.contracts}",
            "shares": f"{abs(self.synthetic_shares)}",
            "side": self._side,
        }

    def context(self) -> dict[str, Json]:
        """Return the market, the two options and the events asked about."""
        return {
            "underlying": self.market.context(),
            "options": [{"option_type": s.kind, "strike": s.strike, "days_to_expiry": s.days} for s in self.options],
            "contracts_held": self.contracts,
            "end_price": self.end_price,
            "fall": self.fall,
        }

    def legs_wanted(self) -> str:
        """Return what the legs are."""
        return f"The legs are the synthetic {self._side} position of {abs(self.synthetic_shares)} shares."

    def figures(self) -> Figures:
        """Return values and profits, Greeks per share, and the risk of the long calls."""
        end = f"profit of the long calls in dollars if the stock ends at ${self.end_price:g} at expiry"
        fall = (
            "change of the value of the long calls in dollars, with its sign, if the stock falls by "
            f"{percent(self.fall)} at once and nothing else changes"
        )
        return {
            "pnl": (
                Figure("call_price", "value of the call per share in dollars", 0.01),
                Figure("put_price", "value of the put per share in dollars", 0.01),
                Figure("breakeven", "stock price at expiry at which the long calls break even", 0.02, LEVEL_TOLERANCE),
                Figure("profit_at_end_price", end, 5.0),
            ),
            "greeks": PER_SHARE_GREEKS,
            "risk": (
                Figure("max_loss", "largest possible loss of the long calls in dollars", 5.0),
                Figure("profit_after_fall", fall, 5.0),
                Figure("value_at_risk", VALUE_AT_RISK + ", for the long calls", 5.0),
            ),
        }

    def fixed(self) -> Values:
        """Return every figure."""
        call, put = self.options
        market, held = self.market, (Holding(call, self.contracts),)
        return {
            "call_price": call.price,
            "put_price": put.price,
            "breakeven": self.strike + call.price,
            "profit_at_end_price": profit_at_expiry(held, market, self.end_price),
            **per_share_greeks(market, call),
            "max_loss": 100 * self.contracts * call.price,
            "profit_after_fall": profits(held, market, [Shock(spot_change=-self.fall)])[0],
            "value_at_risk": daily_value_at_risk(greeks(held, market).delta, market.spot, market.volatility),
        }

    def structure(self, position: Position) -> Sequence[Requirement]:
        """Return whether both options are used."""
        kinds = {holding.series.kind for holding in position if holding.series}
        return [Requirement("uses both the call and the put", kinds == {"call", "put"})]

    def limits(self, position: Position) -> Sequence[Requirement]:
        """Return whether the payoff has the slope of the stock position on both sides of the strike."""
        wanted = self.synthetic_shares
        above, below = self._slope(position, 2 * self.strike), self._slope(position, 0.0)
        return [
            Requirement(f"gains {wanted} dollars per dollar above the strike", math.isclose(above, wanted)),
            Requirement(f"gains {wanted} dollars per dollar below the strike", math.isclose(below, wanted)),
        ]

    def _slope(self, position: Position, price: float) -> float:
        gain = profit_at_expiry(position, self.market, price) - profit_at_expiry(position, self.market, self.strike)
        return gain / (price - self.strike)

    def solution(self) -> Position:
        """Return calls bought against puts sold, or the reverse."""
        contracts = self.synthetic_shares // 100
        return Holding(self.options[0], contracts), Holding(self.options[1], -contracts)


PRINTED = FairValue(
    market=Underlying(spot=175.0, rate=0.05, dividend_yield=0.0, volatility=0.25), strike=180.0, days=30
)
