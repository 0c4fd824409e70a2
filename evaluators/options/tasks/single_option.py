"""Greeks Analysis: the Greeks of one option, what they predict, and the stock that hedges a short position in it."""

from __future__ import annotations

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
    draw_days,
    draw_size,
    draw_spot,
    draw_strike,
    draw_volatility,
    log_uniform,
)
from evaluators.options.problem import Figure, Figures, Problem, Requirement, Values
from evaluators.options.valuation import Shock, daily_value_at_risk, greeks, model_price, per_share_greeks, profits
from evaluators.options.wording import CONVENTIONS, PER_SHARE_GREEKS, VALUE_AT_RISK, percent, shock_figure

JUMP = 0.1
"""Relative move of the stock in the risk figures."""


@dataclass(frozen=True, kw_only=True)
class SingleOption(Problem):
    """See the module. ``move`` is relative."""

    family = "single_option"
    category = "Greeks Analysis"
    stock = True

    market: Underlying
    strike: float
    days: int
    kind: Kind = "call"
    contracts: int = 14
    move: float = 0.04
    days_passed: int = 3

    @classmethod
    def draw(cls, rng: random.Random) -> SingleOption:
        """Draw the parameters."""
        spot, volatility = draw_spot(rng), draw_volatility(rng)
        days = draw_days(rng, volatility)
        strike = draw_strike(rng, spot, volatility, days)
        rate, dividend_yield = rng.randint(6, 24) / 400, rng.randint(4, 24) / 400
        return cls(
            market=Underlying(spot=spot, rate=rate, dividend_yield=dividend_yield, volatility=volatility),
            strike=strike,
            days=days,
            kind=rng.choice(("call", "put")),
            contracts=draw_size(rng),
            move=rng.choice([-1, 1]) * round(log_uniform(rng, 0.01, 0.15), 3),
            days_passed=round(log_uniform(rng, 1, 12)),
        )

    @cached_property
    def option(self) -> Series:
        """The option; its price is asked for."""
        return Series(kind=self.kind, strike=self.strike, days=self.days, price=0.0, volatility=self.market.volatility)

    @property
    def _sold(self) -> Position:
        return (Holding(self.option, -self.contracts),)

    @cached_property
    def _delta_sold(self) -> float:
        return greeks(self._sold, self.market).delta

    @property
    def _event(self) -> str:
        direction = "rises" if self.move > 0 else "falls"
        days = "1 calendar day passes" if self.days_passed == 1 else f"{self.days_passed} calendar days pass"
        return f"the stock {direction} by {percent(abs(self.move))} and {days}"

    def question(self) -> str:
        """Return the text."""
        market = self.market
        return (
            f"A stock trades at ${market.spot:g}. A {self.kind} struck at ${self.strike:g} expires in {self.days} "
            f"days. The rate is {percent(market.rate)}, the dividend yield {percent(market.dividend_yield)}, the "
            f"volatility {percent(market.volatility)}. Give its value and its Greeks. How does the value change if "
            f"{self._event}, exactly and as delta, gamma and theta predict it? You have sold {self.contracts} "
            f"contracts: make the position delta-neutral with stock. {CONVENTIONS}"
        )

    def words(self) -> dict[str, str]:
        """Return what stands in the braces of the texts."""
        return {"kind": self.kind, "event": self._event, "contracts": f"{self.contracts}"}

    def context(self) -> dict[str, Json]:
        """Return the market, the option and the event."""
        return {
            "underlying": self.market.context(),
            "option": {"option_type": self.kind, "strike": self.strike, "days_to_expiry": self.days},
            "contracts_sold": self.contracts,
            "move": self.move,
            "days_passed": self.days_passed,
        }

    def legs_wanted(self) -> str:
        """Return what the leg is."""
        return 'The only leg is the hedge in "stock", in whole shares (not the options already sold).'

    def figures(self) -> Figures:
        """Return the value and its change, the Greeks per share, and the risk with and without the hedge."""
        whole = "options sold and hedge together"
        return {
            "pnl": (
                Figure("value", f"value of the {self.kind} per share in dollars", 0.01),
                Figure("exact_change", f"exact change of that value, with its sign, if {self._event}", 0.01),
                Figure("predicted_change", "the same by delta, gamma and theta (second order in the spot)", 0.01),
            ),
            "greeks": PER_SHARE_GREEKS,
            "risk": (
                Figure("value_at_risk", VALUE_AT_RISK + ", for the contracts sold without the hedge", 5.0),
                shock_figure("profit_after_fall", f"the stock falls by {percent(JUMP)}", of=whole),
                shock_figure("profit_after_rise", f"the stock rises by {percent(JUMP)}", of=whole),
            ),
        }

    def fixed(self) -> Values:
        """Return the figures of the option."""
        per_share = per_share_greeks(self.market, self.option)
        shock = Shock(spot_change=self.move, days=self.days_passed)
        jump = self.market.spot * self.move
        return {
            "value": model_price(self.market, self.option),
            "exact_change": profits((Holding(self.option, 1),), self.market, [shock])[0] / 100,
            "predicted_change": per_share["delta"] * jump
            + 0.5 * per_share["gamma"] * jump**2
            + per_share["theta_per_day"] * self.days_passed,
            **per_share,
            "value_at_risk": daily_value_at_risk(self._delta_sold, self.market.spot, self.market.volatility),
        }

    def of_legs(self, position: Position) -> Values:
        """Return what a jump does to the hedged position."""
        whole = (*self._sold, *position)
        down, up = profits(whole, self.market, [Shock(spot_change=-JUMP), Shock(spot_change=JUMP)])
        return {"profit_after_fall": down, "profit_after_rise": up}

    def _left(self, position: Position) -> float:
        return abs(greeks((*self._sold, *position), self.market).delta)

    def structure(self, position: Position) -> Sequence[Requirement]:
        """Return whether it is a hedge."""
        return [Requirement("at least halves the delta", self._left(position) <= abs(self._delta_sold) / 2)]

    def limits(self, position: Position) -> Sequence[Requirement]:
        """Return whether it is a good one."""
        allowed = 0.02 * abs(self._delta_sold) + 1
        return [Requirement("leaves at most 2% of the delta", self._left(position) <= allowed)]

    def solution(self) -> Position:
        """Return minus the delta in stock."""
        return (Holding(None, -round(self._delta_sold)),)


PRINTED = SingleOption(
    market=Underlying(spot=245.0, rate=0.05, dividend_yield=0.0, volatility=0.55), strike=250.0, days=21
)
