"""P&L Attribution: where the profit of a position came from, and the hedge that was missing."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass

from evaluators.options.chain import Holding, Kind, Position, Series, Underlying, quoted_series
from evaluators.options.pricing_tasks import model_price, per_share_greeks
from evaluators.options.problem import Figure, Figures, Problem, Requirement
from evaluators.options.spread_tasks import draw_market
from evaluators.options.valuation import Shock, daily_value_at_risk, greeks, profits
from evaluators.options.wording import CHAIN_CONVENTIONS, percent
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


@dataclass(frozen=True, kw_only=True)
class StraddleAttribution:
    """Compute the Greeks of a straddle, attribute its profit, and find the vega hedge that was missing."""

    market: Underlying
    series: tuple[Series, ...]
    contracts: int
    spot_change: float
    volatility_change: float
    days_passed: int

    @classmethod
    def draw(cls, rng: random.Random) -> StraddleAttribution:
        """Draw a market, a straddle at the money, wings to hedge with, and what happened."""
        market, days, step = draw_market(rng)
        centre = round(market.spot / step) * step
        strikes = [centre, centre, centre - 2 * step, centre + 2 * step]
        kinds: list[Kind] = ["call", "put", "put", "call"]
        return cls(
            market=market,
            series=quoted_series(market, kinds=kinds, strikes=strikes, days=[days] * 4, slope=-rng.uniform(0.05, 0.2)),
            contracts=rng.choice([-1, 1]) * rng.randint(5, 40),
            spot_change=rng.choice([-1, 1]) * rng.randint(20, 60) / 1000,
            volatility_change=rng.choice([-1, 1]) * rng.randint(10, 50) / 1000,
            days_passed=rng.randint(2, 9),
        )

    def problem(self) -> Problem:
        """Return the task."""
        market, contracts = self.market, self.contracts
        straddle = (Holding(self.series[0], contracts), Holding(self.series[1], contracts))
        start = greeks(straddle, market)
        shock = Shock(self.spot_change, self.volatility_change, self.days_passed)
        points = 100 * self.volatility_change
        parts = risk.attribution(
            total=profits(straddle, market, [shock])[0],
            spot_change=market.spot * self.spot_change,
            volatility_change=points,
            time_passed=self.days_passed,
            delta=start.delta,
            gamma=start.gamma,
            theta=start.theta_per_day,
            vega=start.vega_per_point,
        )
        wings = (Holding(self.series[2], 1), Holding(self.series[3], 1))
        pair_vega = greeks(wings, market).vega_per_point
        pairs = -round(start.vega_per_point / pair_vega) or 1
        vega_limit = math.ceil(0.8 * pair_vega)

        def truth(position: Position | None) -> Figures:
            fixed = {
                "total": parts.total,
                "delta_pnl": parts.delta,
                "gamma_pnl": parts.gamma,
                "theta_pnl": parts.theta,
                "vega_pnl": parts.vega,
                **start._asdict(),
                "profit_at_higher_volatility": profits(straddle, market, [Shock(volatility_change=0.05)])[0],
                "profit_after_crash": profits(straddle, market, [Shock(spot_change=-0.2, volatility_change=0.1)])[0],
            }
            if position is None:
                return fixed
            return {**fixed, "hedge_total": profits(position, market, [shock])[0]}

        def structure(position: Position) -> Sequence[Requirement]:
            left = start.vega_per_point + greeks(position, market).vega_per_point
            wings_only = all(holding.series in self.series[2:] for holding in position)
            return [
                Requirement("uses the two outer series only", wings_only),
                Requirement("at least halves the vega", abs(left) <= abs(start.vega_per_point) / 2),
            ]

        def limits(position: Position) -> Sequence[Requirement]:
            left = start.vega_per_point + greeks(position, market).vega_per_point
            return [Requirement(f"vega within {vega_limit} dollars per point of zero", abs(left) <= vega_limit)]

        side = "bought" if contracts > 0 else "sold"
        rose, moved = ("rose" if x > 0 else "fell" for x in (self.volatility_change, self.spot_change))
        return Problem(
            family="straddle_attribution",
            category="P&L Attribution",
            question=(
                f"With a stock at ${market.spot:g} you {side} {abs(contracts)} straddles struck at "
                f"{self.series[0].strike:g} (as many calls as puts, the first two series of the chain). "
                f"{self.days_passed} days later the stock {moved} by {percent(abs(self.spot_change))} and every "
                f"implied volatility {rose} by {abs(points):g} percentage points. Compute the Greeks at the start, the "
                "exact profit by revaluation, and the parts of it that delta, gamma (one half of gamma times the "
                "squared move), theta and vega explain. Also find a position in the other two series which, taken at "
                f"the start, would have brought the vega of the whole to within {vega_limit} dollars per percentage "
                f"point of zero. {CHAIN_CONVENTIONS}"
            ),
            context={
                "underlying": market.context(),
                "chain": [item.context() for item in self.series],
                "straddles": contracts,
                "spot_change": self.spot_change,
                "volatility_change": self.volatility_change,
                "days_passed": self.days_passed,
            },
            legs_wanted="The legs are the vega hedge alone.",
            figures={
                "pnl": (
                    Figure("total", "exact profit of the straddles in dollars, with its sign", 2.0),
                    Figure("delta_pnl", "part due to delta, in dollars", 2.0),
                    Figure("gamma_pnl", "part due to gamma, in dollars", 2.0),
                    Figure("theta_pnl", "part due to theta, in dollars", 2.0),
                    Figure("vega_pnl", "part due to vega, in dollars", 2.0),
                ),
                "greeks": (
                    Figure("delta", "delta of the straddles at the start in shares", 0.05 * abs(contracts)),
                    Figure("gamma", "gamma of the straddles in shares per 1.00 of spot", 0.0005 * abs(contracts)),
                    Figure("theta_per_day", "theta of the straddles, dollars per calendar day", 0.02 * abs(contracts)),
                    Figure("vega_per_point", "vega of the straddles, dollars per point", 0.02 * abs(contracts)),
                ),
                "risk": (
                    Figure("profit_at_higher_volatility", "change of the value of the straddles at the start, in "
                           "dollars, if every volatility rises by 5 percentage points at once", 5.0),
                    Figure("profit_after_crash", "the same if the stock falls by 20% and every volatility rises by 10 "
                           "percentage points at once", 5.0),
                    Figure("hedge_total", "exact profit of your hedge over the period in dollars, with its sign", 5.0,
                           of_legs=True),
                ),
            },
            series=self.series,
            stock=False,
            truth=truth,
            structure=structure,
            limits=limits,
            solution=(Holding(self.series[2], pairs), Holding(self.series[3], pairs)),
        )  # fmt: skip
