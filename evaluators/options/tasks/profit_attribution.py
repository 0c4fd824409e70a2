"""P&L Attribution: split the profit of a call by stated Greeks, and find the stock hedge that was missing."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import cached_property

from evaluators.contract import Difficulty, Json
from evaluators.options.chain import (
    CONTRACT_SIZE,
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
from evaluators.options.telling.requote import Pair
from evaluators.options.telling.sheet import rate_text
from evaluators.options.telling.terms import FRIDAY, Terms, written_date
from evaluators.options.valuation import (
    TRADING_DAYS_PER_YEAR,
    daily_value_at_risk,
    model_price,
    per_share_greeks,
    with_implied_volatility,
)
from evaluators.options.wording import attribution_figures, percent
from pricing import risk

RATE = 0.04


@dataclass(frozen=True, kw_only=True)
class ProfitAttribution(Problem):
    """See the module. Greeks are per share at the start: theta per calendar day, vega per percentage point."""

    family = "profit_attribution"
    category = "P&L Attribution"
    stock = True

    strike: float
    spot_before: float
    spot_after: float
    price_before: float
    price_after: float
    volatility_points: float
    days_passed: int
    delta: float
    gamma: float
    theta_per_day: float
    vega_per_point: float
    contracts: int = 15
    daily_volatility: float = 0.016
    days_to_expiry: int = 0
    """At the purchase; 0 where the Greeks are told."""

    @classmethod
    def draw_at(cls, rng: random.Random, difficulty: Difficulty) -> ProfitAttribution:
        """Draw; at expert the Greeks and the change of volatility follow from the two prices."""
        drawn = cls.draw(rng)
        if difficulty != "expert":
            return replace(drawn, days_to_expiry=0)
        before, after = drawn._market(drawn.spot_before), drawn._market(drawn.spot_after)
        days = drawn.days_to_expiry
        call = Series(kind="call", strike=drawn.strike, days=days, price=drawn.price_before, volatility=0.0)
        bought = with_implied_volatility(before, call, digits=None)
        later = replace(call, days=days - drawn.days_passed, price=drawn.price_after)
        now = with_implied_volatility(after, later, digits=None).volatility
        greeks = per_share_greeks(before, bought)
        return replace(
            drawn,
            volatility_points=100 * (now - bought.volatility),
            delta=greeks["delta"],
            gamma=greeks["gamma"],
            theta_per_day=greeks["theta_per_day"],
            vega_per_point=greeks["vega_per_point"],
        )

    @staticmethod
    def _market(spot: float) -> Underlying:
        return Underlying(spot=spot, rate=RATE, dividend_yield=0.0, volatility=0.0)

    def is_sound(self) -> bool:
        """Return whether, besides, everything could be worked out of the prices."""
        return all(map(math.isfinite, (self.delta, self.volatility_points))) and super().is_sound()

    def told(self, terms: Terms, pair: Pair | None, rng: random.Random) -> str:
        """Return prices and Greeks: per share, per contract in other units, or none but what the prices imply."""
        easy, expert = terms.difficulty == "easy", terms.difficulty == "expert"
        scale, unit = (CONTRACT_SIZE, "a contract of 100 shares") if expert else (1, "a share")
        bought, sold = (f"${scale * price:,.2f} {unit}" for price in (self.price_before, self.price_after))
        began = terms.today
        while max((began + timedelta(days)).weekday() for days in (0, self.days_passed)) > FRIDAY:
            began -= timedelta(1)
        end = began + timedelta(self.days_passed)
        when = f"{self.days_passed} calendar days later" if easy else f"on {written_date(end)}"
        start = "" if easy else f" on {written_date(began)}"
        prices = rng.choice(
            (
                f"The calls, struck at ${self.strike:g}, were bought{start} for {bought} with the stock at "
                f"${self.spot_before:g}; {when} they stood at {sold} and the stock at ${self.spot_after:g}.",
                f"Stock and calls (strike ${self.strike:g}) cost ${self.spot_before:g} and {bought} at the "
                f"purchase{start}, ${self.spot_after:g} and {sold} {when}.",
            )
        )
        if expert:
            expiry = began + timedelta(self.days_to_expiry)
            return (
                f"{prices} They expire on {written_date(expiry)}. Nobody kept Greeks or volatilities: take those that "
                f"the prices imply by Black-Scholes-Merton, with a rate of {rate_text(RATE, terms)}, no dividends, "
                "years of 365 calendar days, theta per calendar day; the volatility moved from what the first price "
                "implies to what the last one implies. Contracts are on 100 shares, and the call is European."
            )
        change = f"{'rose' if self.volatility_points > 0 else 'fell'} by {abs(self.volatility_points):g}"
        if easy:
            greeks = (
                f"delta {self.delta:g}, gamma {self.gamma:g}, theta {self.theta_per_day:g} per calendar day and vega "
                f"{self.vega_per_point:g} per percentage point"
            )
        else:
            greeks = (
                f"delta {100 * self.delta:.2f} shares, gamma {100 * self.gamma:.3f} shares per dollar, theta "
                f"{36500 * self.theta_per_day:.0f} dollars per year of 365 days and vega "
                f"{10000 * self.vega_per_point:.0f} dollars per 1.00 of volatility, that is per 100 points"
            )
        per = "Per share" if easy else "Per contract"
        return (
            f"{prices} Implied volatility {change} percentage points. {per}, the Greeks on the day of purchase were "
            f"{greeks}. A contract is on 100 shares."
        )

    @classmethod
    def draw(cls, rng: random.Random) -> ProfitAttribution:
        """Draw a market before and after; the Greeks are the engine's, rounded."""
        spot, volatility, passed = draw_spot(rng), draw_volatility(rng), round(log_uniform(rng, 1, 12))
        days = passed + draw_days(rng, volatility)
        strike = draw_strike(rng, spot, volatility, days)
        points = rng.choice([-1, 1]) * round(100 * volatility * log_uniform(rng, 0.01, 0.3), 1)
        spot_after = round(spot * (1 + rng.choice([-1, 1]) * log_uniform(rng, 0.01, 0.15)), 2)
        market = Underlying(spot=spot, rate=RATE, dividend_yield=0.0, volatility=volatility)
        later_market = Underlying(spot=spot_after, rate=RATE, dividend_yield=0.0, volatility=volatility)
        call = Series(kind="call", strike=strike, days=days, price=0.0, volatility=volatility)
        later = Series(kind="call", strike=strike, days=days - passed, price=0.0, volatility=volatility + points / 100)
        per_share = per_share_greeks(market, call)
        return cls(
            strike=strike,
            spot_before=spot,
            spot_after=spot_after,
            price_before=round(model_price(market, call), 2),
            price_after=round(model_price(later_market, later), 2),
            volatility_points=points,
            days_passed=passed,
            delta=round(per_share["delta"], 4),
            gamma=round(per_share["gamma"], 5),
            theta_per_day=round(per_share["theta_per_day"], 4),
            vega_per_point=round(per_share["vega_per_point"], 4),
            contracts=draw_size(rng),
            daily_volatility=round(log_uniform(rng, 0.005, 0.06), 4),
            days_to_expiry=days,
        )

    @property
    def shares(self) -> int:
        """Shares that the contracts stand for."""
        return CONTRACT_SIZE * self.contracts

    @property
    def move(self) -> float:
        """Change of the stock price in dollars."""
        return self.spot_after - self.spot_before

    @cached_property
    def parts(self) -> risk.Attribution:
        """Profit of all contracts by Greek."""
        return risk.attribution(
            total=self.shares * (self.price_after - self.price_before),
            spot_change=self.move,
            volatility_change=self.volatility_points,
            time_passed=self.days_passed,
            delta=self.shares * self.delta,
            gamma=self.shares * self.gamma,
            theta=self.shares * self.theta_per_day,
            vega=self.shares * self.vega_per_point,
        )

    def question(self) -> str:
        """Return the text."""
        change = "rose" if self.volatility_points > 0 else "fell"
        return (
            f"You bought {self.contracts} calls struck at ${self.strike:g} for ${self.price_before:.2f} per share with "
            f"the stock at ${self.spot_before:g}. {self.days_passed} days later the stock stands at "
            f"${self.spot_after:g} and the call at ${self.price_after:.2f}; its implied volatility {change} by "
            f"{abs(self.volatility_points):g} percentage points. Per share, the Greeks on the day of purchase were "
            f"delta {self.delta:g}, gamma {self.gamma:g}, theta {self.theta_per_day:g} per calendar day and vega "
            f"{self.vega_per_point:g} per percentage point. Split the profit with these Greeks (gamma: one half of "
            "gamma times the squared move) and say what stays unexplained. Also give the stock position which, taken "
            "at the purchase, would have made the delta zero. A contract is on 100 shares."
        )

    def words(self) -> dict[str, str]:
        """Return what stands in the braces of the texts."""
        return {"contracts": f"{self.contracts}"}

    def context(self) -> dict[str, Json]:
        """Return what is known before and after."""
        return {
            "contracts": self.contracts,
            "before": {"spot": self.spot_before, "price": self.price_before},
            "after": {"spot": self.spot_after, "price": self.price_after},
            "volatility_change_points": self.volatility_points,
            "days_passed": self.days_passed,
            "greeks_per_share": {
                "delta": self.delta,
                "gamma": self.gamma,
                "theta_per_day": self.theta_per_day,
                "vega_per_point": self.vega_per_point,
            },
            "daily_volatility": self.daily_volatility,
            **({"strike": self.strike, "days_to_expiry": self.days_to_expiry} if self.days_to_expiry else {}),
        }

    def legs_wanted(self) -> str:
        """Return what the leg is."""
        return 'The only leg is the hedge in "stock", in whole shares.'

    def figures(self) -> Figures:
        """Return the parts of the profit, the Greeks of the position, and its risk."""
        value_at_risk = (
            "one-day 95% delta-normal value at risk at the start: 1.645 x |position delta| x spot x daily volatility "
            f"of {percent(self.daily_volatility)}, in dollars"
        )
        hedged = "profit of calls and your stock hedge together over the period, in dollars, with its sign"
        return {
            "pnl": (
                *attribution_figures("all contracts"),
                Figure("unexplained", "profit less these four parts, in dollars", 2.0),
            ),
            "greeks": (
                Figure("position_delta", "delta of all contracts at the start, in shares", 0.5),
                Figure("position_gamma", "gamma of all contracts at the start, in shares per 1.00", 0.05),
                Figure("position_theta_per_day", "theta of all contracts at the start, dollars per day", 0.5),
                Figure("position_vega_per_point", "vega of all contracts at the start, dollars per point", 0.5),
                Figure("delta_after", "delta of all contracts after the move, by delta and gamma", 0.5),
            ),
            "risk": (
                Figure("max_loss", "largest possible loss of the calls bought, in dollars", 2.0),
                Figure("value_at_risk", value_at_risk, 2.0),
                Figure("hedged_total", hedged, 5.0, of_legs=True),
            ),
        }

    def fixed(self) -> Values:
        """Return the figures of the calls."""
        parts, shares = self.parts, self.shares
        yearly = self.daily_volatility * math.sqrt(TRADING_DAYS_PER_YEAR)
        return {
            "total": parts.total,
            "delta_pnl": parts.delta,
            "gamma_pnl": parts.gamma,
            "theta_pnl": parts.theta,
            "vega_pnl": parts.vega,
            "unexplained": parts.unexplained,
            "position_delta": shares * self.delta,
            "position_gamma": shares * self.gamma,
            "position_theta_per_day": shares * self.theta_per_day,
            "position_vega_per_point": shares * self.vega_per_point,
            "delta_after": shares * (self.delta + self.gamma * self.move),
            "max_loss": shares * self.price_before,
            "value_at_risk": daily_value_at_risk(shares * self.delta, self.spot_before, yearly),
        }

    def of_legs(self, position: Position) -> Values:
        """Return the profit with the hedge."""
        return {"hedged_total": self.parts.total + sum(holding.quantity for holding in position) * self.move}

    def _left(self, position: Position) -> float:
        return abs(self.shares * self.delta + sum(holding.quantity for holding in position))

    def structure(self, position: Position) -> Sequence[Requirement]:
        """Return whether it is a hedge."""
        return [Requirement("at least halves the delta", self._left(position) <= self.shares * self.delta / 2)]

    def limits(self, position: Position) -> Sequence[Requirement]:
        """Return whether it is a good one."""
        allowed = 0.02 * self.shares * self.delta + 1
        return [Requirement("leaves at most 2% of the delta", self._left(position) <= allowed)]

    def solution(self) -> Position:
        """Return minus the delta."""
        return (Holding(None, -round(self.shares * self.delta)),)


PRINTED = ProfitAttribution(
    strike=140.0,
    spot_before=138.0,
    spot_after=142.0,
    price_before=5.50,
    price_after=7.20,
    volatility_points=2.0,
    days_passed=3,
    delta=0.45,
    gamma=0.03,
    theta_per_day=-0.08,
    vega_per_point=0.15,
)
