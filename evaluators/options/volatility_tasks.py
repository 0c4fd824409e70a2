"""Volatility Trading: realised against implied volatility, and the forward volatility between two expiries."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from evaluators.options.chain import Holding, Kind, Position, Series, Underlying, quoted_series
from evaluators.options.problem import LEVEL_TOLERANCE, Figure, Figures, Problem, Requirement
from evaluators.options.spread_tasks import draw_market
from evaluators.options.valuation import TRADING_DAYS_PER_YEAR, Shock, greeks, payoff, profits
from evaluators.options.wording import CHAIN_CONVENTIONS, percent, position_greeks, shock_figure

VOLATILITY_TOLERANCE = 0.01


def realised_volatility(closes: Sequence[float]) -> float:
    """Return the standard deviation (n - 1) of daily log returns, per year of 252 days."""
    returns = np.diff(np.log(np.asarray(closes)))
    return float(returns.std(ddof=1) * math.sqrt(TRADING_DAYS_PER_YEAR))


@dataclass(frozen=True, kw_only=True)
class VolatilityView:
    """Buy volatility when the realised one is above the implied one, sell it with limited loss when it is below."""

    market: Underlying
    series: tuple[Series, ...]
    closes: tuple[float, ...]
    contracts: int
    move: float

    @classmethod
    def draw(cls, rng: random.Random) -> VolatilityView:
        """Draw closes whose volatility lies well away from the implied one, and a chain around the last close."""
        market, days, step = draw_market(rng)
        target = market.volatility * rng.choice([rng.uniform(0.5, 0.72), rng.uniform(1.35, 1.8)])
        generator = np.random.default_rng(rng.getrandbits(64))
        returns = generator.standard_normal(20) * target / math.sqrt(TRADING_DAYS_PER_YEAR)
        path = np.append(np.exp(-np.cumsum(returns)[::-1]), 1.0) * market.spot
        centre = round(market.spot / step) * step
        strikes = [centre + step * k for k in range(-5, 6)]
        kinds: list[Kind] = ["put"] * 11
        kinds += ["call"] * 11
        series = quoted_series(market, kinds=kinds, strikes=strikes * 2, days=[days] * 22, slope=-rng.uniform(0, 0.1))
        return cls(
            market=market,
            series=series,
            closes=tuple(round(float(close), 2) for close in path),
            contracts=rng.randint(3, 25),
            move=round(market.volatility * math.sqrt(days / 365) * rng.uniform(0.9, 1.4), 2),
        )

    def problem(self) -> Problem:
        """Return the task."""
        market, contracts = self.market, self.contracts
        realised = realised_volatility(self.closes)
        gap = realised - market.volatility
        side = 1 if gap > 0 else -1
        put, call = self.series[5], self.series[16]
        body = (Holding(put, side * contracts), Holding(call, side * contracts))
        wings = (Holding(self.series[2], contracts), Holding(self.series[19], contracts))
        solution = body if side > 0 else (*body, *wings)
        values = greeks(solution, market)
        delta_limit = math.ceil(max(1.3 * abs(values.delta), 8.0 * contracts))
        vega_floor = math.floor(0.9 * abs(values.vega_per_point))
        loss_limit = math.ceil(1.1 * payoff(solution, market).max_loss / 10) * 10

        def truth(position: Position | None) -> Figures:
            fixed = {"realised_volatility": realised, "volatility_gap_points": 100 * gap}
            if position is None:
                return fixed
            result = payoff(position, market)
            down, up, moved = profits(
                position,
                market,
                [Shock(spot_change=-self.move), Shock(spot_change=self.move), Shock(volatility_change=gap)],
            )
            figures = {
                **fixed,
                "profit_at_realised": moved,
                **greeks(position, market)._asdict(),
                "max_loss": result.max_loss,
                "profit_after_fall": down,
                "profit_after_rise": up,
            }
            if len(result.breakevens) == 2:
                figures |= dict(zip(("breakeven_low", "breakeven_high"), result.breakevens, strict=True))
            return figures

        def structure(position: Position) -> Sequence[Requirement]:
            kinds = {holding.series.kind for holding in position if holding.series}
            vega = greeks(position, market).vega_per_point
            return [
                Requirement("holds calls and puts", kinds == {"call", "put"}),
                Requirement("is on the side of volatility that the closes speak for", vega * side > 0),
                Requirement("cannot lose without bound", math.isfinite(payoff(position, market).max_loss)),
                Requirement("breaks even at two prices", len(payoff(position, market).breakevens) == 2),
            ]

        def limits(position: Position) -> Sequence[Requirement]:
            given = greeks(position, market)
            loss = payoff(position, market).max_loss
            return [
                Requirement(f"vega of at least {vega_floor} dollars", abs(given.vega_per_point) >= vega_floor),
                Requirement(f"delta within {delta_limit} shares of zero", abs(given.delta) <= delta_limit),
                Requirement(f"loss at most ${loss_limit:,}", loss <= loss_limit),
            ]

        return Problem(
            family="volatility_view",
            category="Volatility Trading",
            question=(
                f"The last {len(self.closes)} daily closes of a stock are given, the last of them, "
                f"${market.spot:g}, being its price now. Options on it imply {percent(market.volatility)} at the "
                "money. Compute the realised volatility (standard deviation with n - 1 of the daily log returns, 252 "
                "days a year) and trade as if it went on: buy volatility if it is above the implied one, "
                "sell it if it is below. Use calls and puts of the chain, with a limited loss and two breakevens, so "
                f"that at expiry at most ${loss_limit:,} can be lost, the delta is within {delta_limit} shares of zero "
                f"and the vega is at least {vega_floor} dollars per percentage point in size. {CHAIN_CONVENTIONS}"
            ),
            context={
                "underlying": market.context(),
                "closes": list(self.closes),
                "chain": [item.context() for item in self.series],
                "contracts": contracts,
                "move": self.move,
            },
            legs_wanted="The legs are your position.",
            figures={
                "pnl": (
                    Figure("realised_volatility", "per year, as a decimal fraction", 0.001, VOLATILITY_TOLERANCE),
                    Figure("volatility_gap_points", "realised less implied volatility in percentage points", 0.1),
                    Figure(
                        "profit_at_realised",
                        "change of the value of your position in dollars, with its sign, if every volatility moves at "
                        "once by that gap",
                        5.0,
                        of_legs=True,
                    ),
                    Figure("breakeven_low", "lower breakeven at expiry", 0.01, LEVEL_TOLERANCE, of_legs=True),
                    Figure("breakeven_high", "upper breakeven at expiry", 0.01, LEVEL_TOLERANCE, of_legs=True),
                ),
                "greeks": position_greeks(contracts),
                "risk": (
                    Figure("max_loss", "largest loss at expiry in dollars", 1.0, of_legs=True),
                    shock_figure("profit_after_fall", f"the stock falls by {percent(self.move)}"),
                    shock_figure("profit_after_rise", f"the stock rises by {percent(self.move)}"),
                ),
            },
            series=self.series,
            stock=False,
            truth=truth,
            structure=structure,
            limits=limits,
            solution=solution,
        )


@dataclass(frozen=True, kw_only=True)
class ForwardVolatility:
    """Trade the volatility between two expiries with a calendar spread."""

    market: Underlying
    front: Series
    back: Series
    believed: float
    contracts: int
    move: float

    @classmethod
    def draw(cls, rng: random.Random) -> ForwardVolatility:
        """Draw two calls at the money and a belief about the volatility between their expiries."""
        base, days, _ = draw_market(rng)
        days_back = days + rng.randint(30, 120)
        back_volatility = base.volatility + rng.choice([-1, 1]) * rng.uniform(0.01, 0.05)
        strike = round(base.spot)
        front = quoted_series(base, kinds=["call"], strikes=[strike], days=[days])[0]
        far = Underlying(
            spot=base.spot, rate=base.rate, dividend_yield=base.dividend_yield, volatility=round(back_volatility, 4)
        )
        back = quoted_series(far, kinds=["call"], strikes=[strike], days=[days_back])[0]
        return cls(
            market=base,
            front=front,
            back=back,
            believed=round(forward_volatility(front, back) + rng.choice([-1, 1]) * rng.uniform(0.03, 0.07), 3),
            contracts=rng.randint(4, 40),
            move=rng.randint(5, 12) / 100,
        )

    def problem(self) -> Problem:
        """Return the task."""
        market, front, back, contracts = self.market, self.front, self.back, self.contracts
        forward = forward_volatility(front, back)
        side = 1 if self.believed > forward else -1
        solution = (Holding(front, -side * contracts), Holding(back, side * contracts))
        change = self.believed - back.volatility

        def truth(position: Position | None) -> Figures:
            fixed = {"forward_volatility": forward, "forward_gap_points": 100 * (self.believed - forward)}
            if position is None:
                return fixed
            down, up, later = profits(
                position,
                market,
                [
                    Shock(spot_change=-self.move),
                    Shock(spot_change=self.move),
                    Shock(volatility_change=change, days=front.days),
                ],
            )
            return {
                **fixed,
                "cost": sum(h.shares * h.series.price for h in position if h.series),
                "profit_at_front_expiry": later,
                **greeks(position, market)._asdict(),
                "profit_after_fall": down,
                "profit_after_rise": up,
            }

        def structure(position: Position) -> Sequence[Requirement]:
            held = {h.series.days: h.quantity for h in position if h.series}
            near, far = held.get(front.days, 0), held.get(back.days, 0)
            return [
                Requirement(f"a calendar spread of {contracts} contracts", near == -far and abs(far) == contracts),
                Requirement("gains if the believed volatility comes true", far * side > 0),
            ]

        def limits(position: Position) -> Sequence[Requirement]:
            return []

        return Problem(
            family="forward_volatility",
            category="Volatility Trading",
            question=(
                f"Two calls on a stock at ${market.spot:g} share the strike ${front.strike:g}: one expires in "
                f"{front.days} days and implies {percent(front.volatility)}, the other in {back.days} days and implies "
                f"{percent(back.volatility)}. Compute the volatility that they imply for the time between the two "
                f"expiries (variances times time add up). You believe that it will be {percent(self.believed)}. Trade "
                f"a calendar spread of {contracts} contracts in these calls, one bought and one sold, on the side that "
                f"gains from the later option if you are right. {CHAIN_CONVENTIONS}"
            ),
            context={
                "underlying": market.context(),
                "chain": [front.context(), back.context()],
                "believed_forward_volatility": self.believed,
                "contracts": contracts,
                "move": self.move,
            },
            legs_wanted="The legs are your calendar spread.",
            figures={
                "pnl": (
                    Figure("forward_volatility", "per year, as a decimal fraction", 0.001, VOLATILITY_TOLERANCE),
                    Figure("forward_gap_points", "your belief less that, in percentage points, with its sign", 0.05),
                    Figure("cost", "cash paid for the position in dollars, negative when received", 2.0, of_legs=True),
                    Figure(
                        "profit_at_front_expiry",
                        "change of the value of your position in dollars, with its sign, if the stock stands at "
                        f"${market.spot:g} when the front call expires and the later call is then valued at your "
                        "believed volatility",
                        5.0,
                        of_legs=True,
                    ),
                ),
                "greeks": position_greeks(contracts),
                "risk": (
                    shock_figure("profit_after_fall", f"the stock falls by {percent(self.move)}"),
                    shock_figure("profit_after_rise", f"the stock rises by {percent(self.move)}"),
                ),
            },
            series=(front, back),
            stock=False,
            truth=truth,
            structure=structure,
            limits=limits,
            solution=solution,
        )


def forward_volatility(front: Series, back: Series) -> float:
    """Return the volatility between two expiries that total variances imply, NaN when variance would fall."""
    gained = back.volatility**2 * back.days - front.volatility**2 * front.days
    return math.sqrt(gained / (back.days - front.days)) if gained > 0 else math.nan
