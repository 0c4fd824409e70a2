"""Greeks Analysis: one option and its hedge, and a book made neutral in delta and vega."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass

from evaluators.options.chain import Holding, Kind, Position, Series, Underlying, quoted_series
from evaluators.options.pricing_tasks import model_price, per_share_greeks
from evaluators.options.problem import Figure, Figures, Problem, Requirement
from evaluators.options.valuation import Shock, daily_value_at_risk, greeks, profits
from evaluators.options.wording import (
    CHAIN_CONVENTIONS,
    CONVENTIONS,
    PER_SHARE_GREEKS,
    VALUE_AT_RISK,
    percent,
    shock_figure,
)


@dataclass(frozen=True, kw_only=True)
class SingleOption:
    """Greeks of one option, what they predict, and the stock that hedges a short position in it."""

    spot: float
    strike: float
    days: int
    rate: float
    dividend_yield: float
    volatility: float
    kind: Kind = "call"
    contracts: int = 14
    move: float = 0.04
    days_passed: int = 3

    @classmethod
    def draw(cls, rng: random.Random) -> SingleOption:
        """Draw the parameters."""
        spot = float(rng.randint(40, 480))
        return cls(
            spot=spot,
            strike=float(round(spot * rng.uniform(0.94, 1.07))),
            days=rng.randint(15, 150),
            rate=rng.randint(6, 24) / 400,
            dividend_yield=rng.randint(4, 24) / 400,
            volatility=rng.randint(16, 60) / 100,
            kind=rng.choice(("call", "put")),
            contracts=rng.randint(4, 50),
            move=rng.choice([-1, 1]) * rng.randint(3, 8) / 100,
            days_passed=rng.randint(1, 6),
        )

    def problem(self) -> Problem:
        """Return the task."""
        market = Underlying(
            spot=self.spot, rate=self.rate, dividend_yield=self.dividend_yield, volatility=self.volatility
        )
        unpriced = Series(kind=self.kind, strike=self.strike, days=self.days, price=0.0, volatility=self.volatility)
        value = model_price(market, unpriced)
        per_share = per_share_greeks(market, unpriced)
        sold = (Holding(unpriced, -self.contracts),)
        held_delta = greeks(sold, market).delta
        jump = self.spot * self.move
        profit = (
            profits((Holding(unpriced, 1),), market, [Shock(spot_change=self.move, days=self.days_passed)])[0] / 100
        )

        def truth(position: Position | None) -> Figures:
            fixed = {
                "value": value,
                "exact_change": profit,
                "predicted_change": per_share["delta"] * jump
                + 0.5 * per_share["gamma"] * jump**2
                + per_share["theta_per_day"] * self.days_passed,
                **per_share,
                "value_at_risk": daily_value_at_risk(held_delta, self.spot, self.volatility),
            }
            if position is None:
                return fixed
            down, up = profits((*sold, *position), market, [Shock(spot_change=-0.1), Shock(spot_change=0.1)])
            return {**fixed, "profit_after_fall": down, "profit_after_rise": up}

        def structure(position: Position) -> Sequence[Requirement]:
            left = greeks((*sold, *position), market).delta
            return [
                Requirement("stock only", all(holding.series is None for holding in position)),
                Requirement("at least halves the delta", abs(left) <= abs(held_delta) / 2),
            ]

        def limits(position: Position) -> Sequence[Requirement]:
            left = greeks((*sold, *position), market).delta
            return [Requirement("leaves at most 2% of the delta", abs(left) <= 0.02 * abs(held_delta) + 1)]

        direction = "rises" if self.move > 0 else "falls"
        event = f"the stock {direction} by {percent(abs(self.move))} and {self.days_passed} calendar days pass"
        return Problem(
            family="single_option",
            category="Greeks Analysis",
            question=(
                f"A stock trades at ${self.spot:g}. A {self.kind} struck at ${self.strike:g} expires in {self.days} "
                f"days. The rate is {percent(self.rate)}, the dividend yield {percent(self.dividend_yield)}, the "
                f"volatility {percent(self.volatility)}. Give its value and its Greeks. How does the value change if "
                f"{event}, exactly and as delta, gamma and theta predict it? You have sold {self.contracts} contracts: "
                f"make the position delta-neutral with stock. {CONVENTIONS}"
            ),
            context={
                "underlying": market.context(),
                "option": {"kind": self.kind, "strike": self.strike, "days_to_expiry": self.days},
                "contracts_sold": self.contracts,
                "move": self.move,
                "days_passed": self.days_passed,
            },
            legs_wanted='The only leg is the hedge in "stock", in whole shares (not the options already sold).',
            figures={
                "pnl": (
                    Figure("value", f"value of the {self.kind} per share in dollars", 0.01),
                    Figure("exact_change", f"exact change of that value, with its sign, if {event}", 0.01),
                    Figure("predicted_change", "the same by delta, gamma and theta (second order in the spot)", 0.01),
                ),
                "greeks": PER_SHARE_GREEKS,
                "risk": (
                    Figure("value_at_risk", VALUE_AT_RISK + ", for the contracts sold without the hedge", 5.0),
                    shock_figure("profit_after_fall", "the stock falls by 10%", of="options sold and hedge together"),
                    shock_figure("profit_after_rise", "the stock rises by 10%", of="options sold and hedge together"),
                ),
            },
            series=(),
            stock=True,
            truth=truth,
            structure=structure,
            limits=limits,
            solution=(Holding(None, -round(held_delta)),),
        )  # fmt: skip


PRINTED_SINGLE_OPTION = SingleOption(spot=245.0, strike=250.0, days=21, rate=0.05, dividend_yield=0.0, volatility=0.55)


@dataclass(frozen=True, kw_only=True)
class BookHedge:
    """Greeks of a book, and a hedge of its delta and vega from a chain."""

    market: Underlying
    series: tuple[Series, ...]
    book: Position
    move: float

    @classmethod
    def draw(cls, rng: random.Random) -> BookHedge:
        """Draw a market, a chain with one expiry, and a book of four legs in it."""
        market = Underlying(
            spot=float(rng.randint(80, 600)),
            rate=rng.randint(6, 22) / 400,
            dividend_yield=rng.randint(0, 10) / 400,
            volatility=rng.randint(16, 45) / 100,
        )
        days = rng.randint(25, 90)
        step = max(1.0, float(round(market.spot * market.volatility * math.sqrt(days / 365) / 3)))
        centre = round(market.spot / step) * step
        strikes = [centre + step * k for k in range(-3, 4)]
        kinds: list[Kind] = ["put"] * 7
        kinds += ["call"] * 7
        series = quoted_series(
            market, kinds=kinds, strikes=strikes * 2, days=[days] * 14, slope=-rng.uniform(0.05, 0.2)
        )
        lean = rng.choice([-1, 1])
        book = tuple(
            Holding(item, lean * rng.choice([-1, 1, 1, 1]) * rng.randint(5, 40)) for item in rng.sample(series, 4)
        )
        return cls(market=market, series=series, book=book, move=rng.randint(3, 8) / 100)

    def problem(self) -> Problem:
        """Return the task."""
        market, book = self.market, self.book
        held = greeks(book, market)
        unit = max(greeks((Holding(item, 1),), market).vega_per_point for item in self.series)
        hedge_series = next(item for item in self.series if greeks((Holding(item, 1),), market).vega_per_point == unit)
        options = (Holding(hedge_series, -round(held.vega_per_point / unit) or 1),)
        after = held.delta + greeks(options, market).delta
        solution = (*options, Holding(None, -round(after) or 1))
        delta_limit = 10.0
        vega_limit = math.ceil(0.6 * unit)

        def truth(position: Position | None) -> Figures:
            shocks = [Shock(spot_change=-self.move), Shock(spot_change=self.move), Shock(volatility_change=0.05)]
            down, up, vol = profits(book, market, shocks)
            fixed = {
                "book_profit_after_fall": down,
                "book_profit_after_rise": up,
                **held._asdict(),
                "book_profit_at_higher_volatility": vol,
                "value_at_risk": daily_value_at_risk(held.delta, market.spot, market.volatility),
            }
            if position is None:
                return fixed
            hedge_down, hedge_up, _ = profits(position, market, shocks)
            cost = sum(h.shares * (market.spot if h.series is None else h.series.price) for h in position)
            return {
                **fixed,
                "profit_after_fall": down + hedge_down,
                "profit_after_rise": up + hedge_up,
                "hedge_cost": cost,
            }

        def left_over(position: Position) -> tuple[float, float]:
            hedge = greeks(position, market)
            return abs(held.delta + hedge.delta), abs(held.vega_per_point + hedge.vega_per_point)

        def structure(position: Position) -> Sequence[Requirement]:
            delta, vega = left_over(position)
            return [
                Requirement("at least halves the delta of the book", delta <= abs(held.delta) / 2),
                Requirement("at least halves the vega of the book", vega <= abs(held.vega_per_point) / 2),
            ]

        def limits(position: Position) -> Sequence[Requirement]:
            delta, vega = left_over(position)
            return [
                Requirement(f"delta within {delta_limit:g} shares of zero", delta <= delta_limit),
                Requirement(f"vega within {vega_limit:g} dollars per point of zero", vega <= vega_limit),
            ]

        contracts = sum(abs(holding.quantity) for holding in book)
        return Problem(
            family="book_hedge",
            category="Greeks Analysis",
            question=(
                f"A book of options on one stock, now at ${market.spot:g}, is given with the chain that can be traded. "
                f"Give the Greeks of the whole book. Then hedge it with series of the chain and with stock so that "
                f"book and hedge together have a delta within {delta_limit:g} shares and a vega within "
                f"{vega_limit:g} dollars per percentage point of zero, and say what happens when the stock moves by "
                f"{percent(self.move)} either way. {CHAIN_CONVENTIONS}"
            ),
            context={
                "underlying": market.context(),
                "chain": [item.context() for item in self.series],
                "book": [
                    {"kind": h.series.kind, "strike": h.series.strike, "days_to_expiry": h.series.days,
                     "quantity": h.quantity}
                    for h in book
                    if h.series
                ],
                "move": self.move,
            },
            legs_wanted="The legs are the hedge alone, without the book.",
            figures={
                "pnl": (
                    Figure("book_profit_after_fall", "change of the value of the book in dollars, with its sign, if "
                           f"the stock falls by {percent(self.move)} at once", 10.0),
                    Figure("book_profit_after_rise", "the same if the stock rises by as much", 10.0),
                    Figure("profit_after_fall", "the same for book and hedge together after the fall", 10.0,
                           of_legs=True),
                    Figure("profit_after_rise", "the same for book and hedge together after the rise", 10.0,
                           of_legs=True),
                ),
                "greeks": (
                    Figure("delta", "delta of the book in shares", 0.05 * contracts),
                    Figure("gamma", "gamma of the book in shares per 1.00 of spot", 0.0005 * contracts),
                    Figure("theta_per_day", "theta of the book in dollars per calendar day", 0.02 * contracts),
                    Figure("vega_per_point", "vega of the book in dollars per percentage point", 0.02 * contracts),
                    Figure("rho_per_point", "rho of the book in dollars per percentage point", 0.02 * contracts),
                ),
                "risk": (
                    Figure("value_at_risk", VALUE_AT_RISK + ", for the book without the hedge", 10.0),
                    Figure("book_profit_at_higher_volatility", "change of the value of the book in dollars, with its "
                           "sign, if every volatility rises by 5 percentage points at once", 10.0),
                    Figure("hedge_cost", "cash paid for the whole hedge in dollars, negative when received", 10.0,
                           of_legs=True),
                ),
            },
            series=self.series,
            stock=True,
            truth=truth,
            structure=structure,
            limits=limits,
            solution=solution,
        )  # fmt: skip
