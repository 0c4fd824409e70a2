"""P&L Attribution: where the profit of a position came from, and the hedge that was missing."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

from evaluators.options.chain import Holding, Position, Series, Underlying
from evaluators.options.pricing_tasks import model_price, per_share_greeks
from evaluators.options.problem import Figure, Figures, Problem, Requirement
from evaluators.options.valuation import daily_value_at_risk
from evaluators.options.wording import percent
from pricing import risk


@dataclass(frozen=True, kw_only=True)
class ProfitAttribution:
    """Split the profit of a call by Greek.

    Greeks are per share at the start: theta per calendar day, vega per percentage point of volatility.
    """

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

    @classmethod
    def draw(cls, rng: random.Random) -> ProfitAttribution:
        """Draw a market before and after; the Greeks are the engine's, to four digits."""
        spot = float(rng.randint(50, 500))
        strike = float(round(spot * rng.uniform(0.97, 1.05)))
        volatility, days, passed = rng.randint(18, 55) / 100, rng.randint(30, 90), rng.randint(2, 9)
        points = rng.choice([-1, 1]) * rng.randint(10, 45) / 10
        after = round(spot * (1 + rng.choice([-1, 1]) * rng.uniform(0.02, 0.07)), 2)
        rate = 0.04
        before_market = Underlying(spot=spot, rate=rate, dividend_yield=0.0, volatility=volatility)
        after_market = Underlying(spot=after, rate=rate, dividend_yield=0.0, volatility=volatility)
        before = Series(kind="call", strike=strike, days=days, price=0.0, volatility=volatility)
        later = Series(kind="call", strike=strike, days=days - passed, price=0.0, volatility=volatility + points / 100)
        per_share = per_share_greeks(before_market, before)
        return cls(
            strike=strike,
            spot_before=spot,
            spot_after=after,
            price_before=round(model_price(before_market, before), 2),
            price_after=round(model_price(after_market, later), 2),
            volatility_points=points,
            days_passed=passed,
            delta=round(per_share["delta"], 4),
            gamma=round(per_share["gamma"], 5),
            theta_per_day=round(per_share["theta_per_day"], 4),
            vega_per_point=round(per_share["vega_per_point"], 4),
            contracts=rng.randint(3, 40),
            daily_volatility=rng.randint(90, 320) / 10_000,
        )

    def problem(self) -> Problem:
        """Return the task."""
        shares = 100 * self.contracts
        move = self.spot_after - self.spot_before
        parts = risk.attribution(
            total=shares * (self.price_after - self.price_before),
            spot_change=move,
            volatility_change=self.volatility_points,
            time_passed=self.days_passed,
            delta=shares * self.delta,
            gamma=shares * self.gamma,
            theta=shares * self.theta_per_day,
            vega=shares * self.vega_per_point,
        )
        hedge_shares = -round(shares * self.delta)
        new_delta = shares * (self.delta + self.gamma * move)

        def truth(position: Position | None) -> Figures:
            fixed = {
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
                "delta_after": new_delta,
                "max_loss": shares * self.price_before,
                "value_at_risk": daily_value_at_risk(
                    shares * self.delta, self.spot_before, self.daily_volatility * 252**0.5
                ),
            }
            if position is None:
                return fixed
            stock = sum(holding.quantity for holding in position)
            return {**fixed, "hedged_total": parts.total + stock * move}

        def structure(position: Position) -> Sequence[Requirement]:
            return [Requirement("stock only", all(holding.series is None for holding in position))]

        def limits(position: Position) -> Sequence[Requirement]:
            left = shares * self.delta + sum(holding.quantity for holding in position)
            return [Requirement("leaves at most 2% of the delta", abs(left) <= 0.02 * shares * self.delta + 1)]

        change = "rose" if self.volatility_points > 0 else "fell"
        return Problem(
            family="profit_attribution",
            category="P&L Attribution",
            question=(
                f"You bought {self.contracts} calls struck at ${self.strike:g} for ${self.price_before:.2f} per share "
                f"with the stock at ${self.spot_before:g}. {self.days_passed} days later the stock stands at "
                f"${self.spot_after:g} and the call at ${self.price_after:.2f}; its implied volatility {change} by "
                f"{abs(self.volatility_points):g} percentage points. Per share, the Greeks on the day of purchase were "
                f"delta {self.delta:g}, gamma {self.gamma:g}, theta {self.theta_per_day:g} per calendar day and vega "
                f"{self.vega_per_point:g} per percentage point. Split the profit with these Greeks (gamma: one half of "
                "gamma times the squared move) and say what stays unexplained. Also give the stock position which, "
                "taken at the purchase, would have made the delta zero. A contract is on 100 shares."
            ),
            context={
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
            },
            legs_wanted='The only leg is the hedge in "stock", in whole shares.',
            figures={
                "pnl": (
                    Figure("total", "profit of all contracts in dollars, with its sign", 2.0),
                    Figure("delta_pnl", "part due to delta, in dollars", 2.0),
                    Figure("gamma_pnl", "part due to gamma, in dollars", 2.0),
                    Figure("theta_pnl", "part due to theta, in dollars", 2.0),
                    Figure("vega_pnl", "part due to vega, in dollars", 2.0),
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
                    Figure(
                        "value_at_risk",
                        "one-day 95% delta-normal value at risk at the start: 1.645 x |position delta| x spot x daily "
                        f"volatility of {percent(self.daily_volatility)}, in dollars",
                        2.0,
                    ),
                    Figure(
                        "hedged_total",
                        "profit of calls and your stock hedge together over the period, in dollars, with its sign",
                        5.0,
                        of_legs=True,
                    ),
                ),
            },
            series=(),
            stock=True,
            truth=truth,
            structure=structure,
            limits=limits,
            solution=(Holding(None, hedge_shares),),
        )


PRINTED_PROFIT_ATTRIBUTION = ProfitAttribution(
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
