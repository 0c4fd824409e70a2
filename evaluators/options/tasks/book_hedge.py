"""Greeks Analysis: the Greeks of a book of options, and a hedge of its delta and vega from a chain."""

from __future__ import annotations

import math
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
    draw_market,
    draw_size,
    log_uniform,
    quoted_series,
)
from evaluators.options.problem import Figure, Figures, Problem, Requirement, Values, written
from evaluators.options.valuation import Greeks, Shock, cash_paid, daily_value_at_risk, greeks, profits, vegas_per_point
from evaluators.options.wording import CHAIN_CONVENTIONS, VALUE_AT_RISK, greek_figures, percent

DELTA_LIMIT = 10.0
VOLATILITY_JUMP = 0.05


@dataclass(frozen=True, kw_only=True)
class BookHedge(Problem):
    """See the module. ``move`` is relative."""

    family = "book_hedge"
    category = "Greeks Analysis"
    stock = True

    market: Underlying
    series: tuple[Series, ...]
    book: Position
    move: float

    @classmethod
    def draw(cls, rng: random.Random) -> BookHedge:
        """Draw a market, a chain with one expiry, and a book of four legs in it."""
        market, days, step = draw_market(rng, reach=3)
        centre = round(market.spot / step) * step
        strikes = [centre + step * k for k in range(-3, 4)]
        kinds: list[Kind] = ["put"] * 7
        kinds += ["call"] * 7
        slope = -rng.uniform(0.05, 0.2)
        series = quoted_series(market, kinds=kinds, strikes=strikes * 2, days=[days] * 14, slope=slope)
        lean = rng.choice([-1, 1])
        book = tuple(Holding(item, lean * rng.choice([-1, 1, 1, 1]) * draw_size(rng)) for item in rng.sample(series, 4))
        return cls(market=market, series=series, book=book, move=round(log_uniform(rng, 0.02, 0.15), 3))

    @cached_property
    def held(self) -> Greeks:
        """Greeks of the book."""
        return greeks(self.book, self.market)

    @cached_property
    def _largest_vega(self) -> tuple[float, Series]:
        vegas = vegas_per_point(self.market, self.series)
        return max(vegas), self.series[vegas.index(max(vegas))]

    @property
    def _vega_limit(self) -> int:
        return math.ceil(0.6 * self._largest_vega[0])

    def tradable(self) -> Sequence[Series]:
        """Return the chain."""
        return self.series

    def question(self) -> str:
        """Return the text."""
        return (
            f"A book of options on one stock, now at ${self.market.spot:g}, is given with the chain that can be "
            "traded. Give the Greeks of the whole book. Then hedge it with series of the chain and with stock so that "
            f"book and hedge together have a delta within {DELTA_LIMIT:g} shares and a vega within {self._vega_limit} "
            "dollars per percentage point of zero, and say what happens when the stock moves by "
            f"{percent(self.move)} either way. {CHAIN_CONVENTIONS}"
        )

    def words(self) -> dict[str, str]:
        """Return what stands in the braces of the texts."""
        return {"delta": f"{DELTA_LIMIT:g}", "vega": f"{self._vega_limit}", "move": percent(self.move)}

    def context(self) -> dict[str, Json]:
        """Return the market, the chain and the book."""
        return {
            "underlying": self.market.context(),
            "chain": [item.context() for item in self.series],
            "book": [written(holding) for holding in self.book],
            "move": self.move,
        }

    def legs_wanted(self) -> str:
        """Return what the legs are."""
        return "The legs are the hedge alone, without the book."

    def figures(self) -> Figures:
        """Return profits with and without the hedge, the Greeks of the book, its risk and the price of the hedge."""
        fall = (
            "change of the value of the book in dollars, with its sign, if the stock falls by "
            f"{percent(self.move)} at once"
        )
        higher = (
            "change of the value of the book in dollars, with its sign, if every volatility rises by "
            f"{percent(VOLATILITY_JUMP)[:-1]} percentage points at once"
        )
        after, together = "the same for book and hedge together after the", "cash paid for the whole hedge in dollars"
        contracts = sum(abs(holding.quantity) for holding in self.book)
        return {
            "pnl": (
                Figure("book_profit_after_fall", fall, 10.0),
                Figure("book_profit_after_rise", "the same if the stock rises by as much", 10.0),
                Figure("profit_after_fall", f"{after} fall", 10.0, of_legs=True),
                Figure("profit_after_rise", f"{after} rise", 10.0, of_legs=True),
            ),
            "greeks": greek_figures("the book", contracts, of_legs=False, with_rho=True),
            "risk": (
                Figure("value_at_risk", VALUE_AT_RISK + ", for the book without the hedge", 10.0),
                Figure("book_profit_at_higher_volatility", higher, 10.0),
                Figure("hedge_cost", f"{together}, negative when received", 10.0, of_legs=True),
            ),
        }

    @property
    def _moves(self) -> list[Shock]:
        return [Shock(spot_change=-self.move), Shock(spot_change=self.move)]

    @cached_property
    def _profits_of_book(self) -> tuple[float, ...]:
        return profits(self.book, self.market, [*self._moves, Shock(volatility_change=VOLATILITY_JUMP)])

    def fixed(self) -> Values:
        """Return the figures of the book."""
        down, up, higher = self._profits_of_book
        return {
            "book_profit_after_fall": down,
            "book_profit_after_rise": up,
            **self.held._asdict(),
            "book_profit_at_higher_volatility": higher,
            "value_at_risk": daily_value_at_risk(self.held.delta, self.market.spot, self.market.volatility),
        }

    def of_legs(self, position: Position) -> Values:
        """Return the figures of the hedge."""
        down, up = profits(position, self.market, self._moves)
        return {
            "profit_after_fall": self._profits_of_book[0] + down,
            "profit_after_rise": self._profits_of_book[1] + up,
            "hedge_cost": cash_paid(position, self.market),
        }

    def _left(self, position: Position) -> tuple[float, float]:
        hedge = greeks(position, self.market)
        return abs(self.held.delta + hedge.delta), abs(self.held.vega_per_point + hedge.vega_per_point)

    def structure(self, position: Position) -> Sequence[Requirement]:
        """Return whether it is a hedge of both."""
        delta, vega = self._left(position)
        return [
            Requirement("at least halves the delta of the book", delta <= abs(self.held.delta) / 2),
            Requirement("at least halves the vega of the book", vega <= abs(self.held.vega_per_point) / 2),
        ]

    def limits(self, position: Position) -> Sequence[Requirement]:
        """Return whether it is a good one."""
        delta, vega = self._left(position)
        return [
            Requirement(f"delta within {DELTA_LIMIT:g} shares of zero", delta <= DELTA_LIMIT),
            Requirement(f"vega within {self._vega_limit} dollars per point of zero", vega <= self._vega_limit),
        ]

    def solution(self) -> Position:
        """Return the series of the largest vega against the vega, stock against the delta that is left."""
        vega, series = self._largest_vega
        options = (Holding(series, -round(self.held.vega_per_point / vega) or 1),)
        left = self.held.delta + greeks(options, self.market).delta
        return (*options, Holding(None, -round(left) or 1))
