"""Risk Management: put a floor under a stock holding with bought puts and pay for it with sold calls."""

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
from evaluators.options.valuation import Shock, cash_paid, daily_value_at_risk, greeks, payoff, profits
from evaluators.options.wording import CHAIN_CONVENTIONS, VALUE_AT_RISK, greek_figures, percent, shock_figure

WHOLE = "stock and collar together"


@dataclass(frozen=True, kw_only=True)
class Collar(Problem):
    """See the module. ``put`` and ``call`` are the places in ``series`` of the collar that sets the limits."""

    family = "collar"
    category = "Risk Management"

    market: Underlying
    series: tuple[Series, ...]
    lots: int
    put: int
    call: int
    fall: float

    @classmethod
    def draw(cls, rng: random.Random) -> Collar:
        """Draw a market, a chain of puts below and calls above the spot, and the collar that sets the limits."""
        market, days, step = draw_market(rng, reach=7)
        centre = round(market.spot / step) * step
        strikes = [centre + step * k for k in (*range(-7, 0), *range(1, 8))]
        kinds: list[Kind] = ["put"] * 7
        kinds += ["call"] * 7
        slope = -rng.uniform(0.05, 0.2)
        return cls(
            market=market,
            series=quoted_series(market, kinds=kinds, strikes=strikes, days=[days] * 14, slope=slope),
            lots=draw_size(rng),
            put=rng.randint(0, 6),
            call=rng.randint(7, 13),
            fall=round(log_uniform(rng, 0.03, 0.3), 3),
        )

    @property
    def shares(self) -> Holding:
        """The stock that is protected."""
        return Holding(None, self.lots * CONTRACT_SIZE)

    def tradable(self) -> Sequence[Series]:
        """Return the chain."""
        return self.series

    def solution(self) -> Position:
        """Return the collar that sets the limits."""
        return Holding(self.series[self.put], self.lots), Holding(self.series[self.call], -self.lots)

    @cached_property
    def allowed(self) -> dict[str, int]:
        """Limits in dollars: loss, cost of the collar (negative: least credit), and profit that stays possible."""
        result = payoff((self.shares, *self.solution()), self.market)
        cost = cash_paid(self.solution(), self.market)
        return {
            "loss": math.ceil(1.03 * result.max_loss / 10) * 10,
            "cost": math.ceil((cost + 0.03 * abs(cost)) / 10) * 10,
            "profit": math.floor(0.97 * result.max_profit / 10) * 10,
        }

    def question(self) -> str:
        """Return the text."""
        allowed = self.allowed
        cost = allowed["cost"]
        price = f"cost at most ${cost:,}" if cost > 0 else f"bring in at least ${-cost:,}"
        return (
            f"You hold {self.lots * CONTRACT_SIZE} shares bought today at ${self.market.spot:g}. Protect them until "
            f"the options of the chain expire in {self.series[0].days} days with a collar: buy {self.lots} puts of one "
            f"strike and sell {self.lots} calls of a higher strike. Stock and collar together may lose at most "
            f"${allowed['loss']:,} at expiry, the collar must {price}, and a profit of at least "
            f"${allowed['profit']:,} must stay possible. {CHAIN_CONVENTIONS}"
        )

    def words(self) -> dict[str, str]:
        """Return what stands in the braces of the texts."""
        allowed = self.allowed
        cost = allowed["cost"]
        return {
            "shares": f"{self.lots * CONTRACT_SIZE}",
            "lots": f"{self.lots}",
            "loss": f"${allowed['loss']:,}",
            "profit": f"${allowed['profit']:,}",
            "price": f"cost at most ${cost:,}" if cost > 0 else f"bring in at least ${-cost:,}",
        }

    def context(self) -> dict[str, Json]:
        """Return the market, the holding and the chain."""
        return {
            "underlying": self.market.context(),
            "shares_held": self.lots * CONTRACT_SIZE,
            "chain": [item.context() for item in self.series],
            "fall": self.fall,
        }

    def legs_wanted(self) -> str:
        """Return what the legs are."""
        return "The legs are the two options of the collar, without the shares."

    def figures(self) -> Figures:
        """Return profit, Greeks and risk of stock and collar together."""
        break_even = f"stock price at expiry at which {WHOLE} break even"
        return {
            "pnl": (
                Figure("collar_cost", "cash paid for the collar, negative when received", 1.0, of_legs=True),
                Figure("max_profit", f"largest profit of {WHOLE} at expiry in dollars", 1.0, of_legs=True),
                Figure("breakeven", break_even, 0.01, LEVEL_TOLERANCE, of_legs=True),
            ),
            "greeks": greek_figures(WHOLE, self.lots),
            "risk": (
                Figure("max_loss", f"largest loss of {WHOLE} at expiry in dollars", 1.0, of_legs=True),
                Figure("value_at_risk_unhedged", VALUE_AT_RISK + ", of the shares alone", 5.0),
                Figure("value_at_risk", f"the same for {WHOLE}", 5.0, of_legs=True),
                shock_figure("profit_after_fall", f"the stock falls by {percent(self.fall)}", of=WHOLE),
            ),
        }

    def fixed(self) -> Values:
        """Return the risk of the shares alone."""
        bare = daily_value_at_risk(self.shares.shares, self.market.spot, self.market.volatility)
        return {"value_at_risk_unhedged": bare}

    def of_legs(self, position: Position) -> Values:
        """Return the figures of shares and collar."""
        whole = (self.shares, *position)
        result, sensitivities = payoff(whole, self.market), greeks(whole, self.market)
        values = {
            "collar_cost": cash_paid(position, self.market),
            "max_profit": result.max_profit,
            "max_loss": result.max_loss,
            **sensitivities._asdict(),
            "value_at_risk": daily_value_at_risk(sensitivities.delta, self.market.spot, self.market.volatility),
            "profit_after_fall": profits(whole, self.market, [Shock(spot_change=-self.fall)])[0],
        }
        if len(result.breakevens) == 1:
            values["breakeven"] = result.breakevens[0]
        return values

    def structure(self, position: Position) -> Sequence[Requirement]:
        """Return what makes a position a collar of this size."""
        held = [(h.series.kind, h.series.strike, h.quantity) for h in position if h.series]
        bought = [strike for kind, strike, count in held if kind == "put" and count == self.lots]
        sold = [strike for kind, strike, count in held if kind == "call" and count == -self.lots]
        return [
            Requirement("two legs", len(position) == 2),
            Requirement(f"buys {self.lots} puts and sells {self.lots} calls", len(bought) == len(sold) == 1),
            Requirement("put strike below call strike", bool(bought and sold and bought[0] < sold[0])),
        ]

    def limits(self, position: Position) -> Sequence[Requirement]:
        """Return whether loss, cost and upside are within the limits."""
        result, allowed = payoff((self.shares, *position), self.market), self.allowed
        cost = cash_paid(position, self.market)
        return [
            Requirement(f"loss at most ${allowed['loss']:,}", result.max_loss <= allowed["loss"]),
            Requirement(f"collar costs at most ${allowed['cost']:,}", cost <= allowed["cost"]),
            Requirement(f"profit of up to ${allowed['profit']:,} kept", result.max_profit >= allowed["profit"]),
        ]
