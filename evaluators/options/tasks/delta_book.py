"""A book with stated deltas: its exposure and value at risk, made neutral or cut to a limit with stock."""

from __future__ import annotations

import random
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

from evaluators.contract import Difficulty, Json
from evaluators.exhibit import show
from evaluators.options.chain import (
    CONTRACT_SIZE,
    Holding,
    Kind,
    Position,
    Series,
    Underlying,
    draw_market,
    draw_size,
    draw_spot,
    log_uniform,
    quoted_series,
)
from evaluators.options.problem import Figure, Figures, Problem, Requirement, Values, written
from evaluators.options.telling.requote import Pair
from evaluators.options.telling.sheet import describe, volatility_text
from evaluators.options.telling.terms import Terms
from evaluators.options.valuation import TRADING_DAYS_PER_YEAR, per_share_greeks
from evaluators.options.wording import percent
from pricing import risk

KINDS: tuple[Kind, ...] = ("call", "put")
NEUTRAL = 2.0
"""Shares of delta that a neutral book may keep."""


@dataclass(frozen=True)
class Line:
    """Contracts of one series, signed, with the delta per share of that series; ``series`` where it is not told."""

    label: str
    contracts: int
    delta: float
    series: Series | None = None


def draw_daily_volatility(rng: random.Random) -> float:
    """Return a volatility per day, in hundredths of a percentage point."""
    return round(log_uniform(rng, 0.005, 0.06), 4)


def draw_lines(rng: random.Random, spot: float) -> tuple[Line, ...]:
    """Return three lines of calls and puts, bought and sold."""
    lines = []
    for kind, sign in rng.sample([("call", 1), ("call", 1), ("put", -1), ("put", -1)], 3):
        strike = round(spot * rng.uniform(0.8, 1.25))
        contracts = rng.choice([-1, 1]) * draw_size(rng)
        lines.append(Line(f"{strike} {kind}", contracts, sign * rng.randint(4, 96) / 100))
    return tuple(lines)


@dataclass(frozen=True, kw_only=True)
class DeltaBook(Problem):
    """What both templates share. ``shares`` is the stock in the book, ``move`` a relative move.

    With a ``market`` the deltas and the daily volatility are not told but follow from its quotes.
    """

    stock = True

    spot: float
    shares: int
    lines: tuple[Line, ...]
    daily_volatility: float
    move: float = 0.02
    market: Underlying | None = None

    @cached_property
    def deltas(self) -> tuple[float, ...]:
        """Delta of each line in shares."""
        return tuple(line.contracts * CONTRACT_SIZE * self._delta_per_share(line) for line in self.lines)

    def _delta_per_share(self, line: Line) -> float:
        if self.market is None or line.series is None:
            return line.delta
        return per_share_greeks(self.market, line.series)["delta"]

    @classmethod
    @abstractmethod
    def draw(cls, rng: random.Random) -> Self:
        """Draw a book with stated deltas."""

    @property
    def daily(self) -> float:
        """Volatility per trading day."""
        return self.daily_volatility if self.market is None else self.market.volatility / TRADING_DAYS_PER_YEAR**0.5

    @property
    def delta(self) -> float:
        """Net delta in shares."""
        return self.shares + sum(self.deltas)

    @classmethod
    def draw_at(cls, rng: random.Random, difficulty: Difficulty) -> Self:
        """Draw the book; at expert of quoted series."""
        drawn = cls.draw(rng)
        if difficulty != "expert":
            return drawn
        market, days, step = draw_market(rng, reach=4)
        centre = round(market.spot / step) * step
        kinds, strikes = (
            [rng.choice(KINDS) for _ in drawn.lines],
            [centre + step * rng.randint(-3, 3) for _ in drawn.lines],
        )
        series = quoted_series(market, kinds=kinds, strikes=strikes, days=[days] * 3, slope=-rng.uniform(0.05, 0.2))
        lines = tuple(Line("", line.contracts, 0.0, item) for line, item in zip(drawn.lines, series, strict=True))
        return replace(drawn, spot=market.spot, lines=lines, market=market)

    def is_sound(self) -> bool:
        """Return whether, besides, no series comes twice and bought and sold parts are there where they are asked."""
        held = [line.series for line in self.lines if line.series is not None]
        signs = {line.contracts > 0 for line in self.lines}
        return len(set(held)) == len(held) and len(signs) == 2 and super().is_sound()

    def told(self, terms: Terms, pair: Pair | None, rng: random.Random) -> str:
        """Return the book: by stated deltas, per share or per contract, or by quotes from which they follow."""
        stock = f" Besides, the book is {'long' if self.shares > 0 else 'short'} {abs(self.shares)} shares."
        ways = f"The book is judged by its delta alone; returns are normal without drift.{stock if self.shares else ''}"
        if self.market is not None:
            keys = ("underlying", "chain", "book")
            context = self.context()
            days = (
                " The stock moves by the volatility of the underlying; a day's is that of the year over the root of "
                f"{TRADING_DAYS_PER_YEAR}."
            )
            return f"{ways}{days}\n\n{describe({key: context[key] for key in keys}, terms, pair, rng)}"
        rows = []
        for line in self.lines:
            if terms.difficulty == "easy":
                rows.append([line.label, f"{line.contracts}", f"{line.delta:.2f}"])
            else:
                side = "long" if line.contracts > 0 else "short"
                rows.append([line.label, f"{side} {abs(line.contracts)}", f"{CONTRACT_SIZE * line.delta:.0f}"])
        columns = [
            "series",
            "contracts",
            "delta a share" if terms.difficulty == "easy" else "delta of a contract bought, in shares",
        ]
        volatility = f"{percent(self.daily)} a day"
        if terms.difficulty == "hard":
            yearly = self.daily * TRADING_DAYS_PER_YEAR**0.5
            volatility = f"{volatility_text(yearly, Terms())} of {TRADING_DAYS_PER_YEAR} trading days"
        market = rng.choice(
            (
                f"The stock trades at ${self.spot:g}; its volatility is {volatility}.",
                f"Volatility of the stock: {volatility}. Price: ${self.spot:g}.",
            )
        )
        hint = " (contracts of 100 shares, negative when sold)" if terms.difficulty == "easy" else ""
        return f"{ways} {market}\n\nOptions held{hint}:\n{show(rng, columns, rows)}"

    @abstractmethod
    def wanted(self) -> str:
        """Return the trade asked for, as a sentence."""

    def question(self) -> str:
        """Return the text."""
        holdings = f"{self.shares} shares and options" if self.shares else "options"
        return (
            f"A book holds {holdings} on a stock at ${self.spot:g}: see the list (contracts of 100 shares, negative "
            "when sold; deltas per share). The daily volatility of the stock is "
            f"{percent(self.daily_volatility)}, returns are normal without drift, and the book is judged by its delta "
            f"alone. Give its exposure and its one-day value at risk. {self.wanted()}"
        )

    def context(self) -> dict[str, Json]:
        """Return the book."""
        rows = [
            {"option": line.label, "contracts": line.contracts, "delta_per_share": line.delta} for line in self.lines
        ]
        series = [(line.series, line.contracts) for line in self.lines if line.series is not None]
        quoted: dict[str, Json] = {}
        if self.market is not None:
            quoted = {
                "underlying": self.market.context(),
                "chain": [item.context() for item, _ in series],
                "book": [written(Holding(item, count)) for item, count in series],
            }
        return quoted | {
            "spot": self.spot,
            "shares": self.shares,
            "options": rows,
            "daily_volatility": self.daily,
            "move": self.move,
        }

    def legs_wanted(self) -> str:
        """Return what the leg is."""
        return 'The only leg is the trade in "stock", in whole shares.'

    def figures(self) -> Figures:
        """Return first-order profits, exposures and value at risk."""
        change = (
            "change of the value of the book in dollars, with its sign, by delta alone, when the stock moves by "
            f"{percent(self.move)}"
        )
        hedge = "what your trade in stock adds to it, in dollars, with its sign"
        return {
            "pnl": (
                Figure("change", change, 2.0),
                Figure("change_of_bought", "part of it that is due to the options bought", 2.0),
                Figure("hedge_change", hedge, 2.0, of_legs=True),
            ),
            "greeks": (
                Figure("net_delta", "net delta of the book in shares", 0.5),
                Figure("delta_of_bought", "delta of the options bought together, in shares", 0.5),
                Figure("delta_of_sold", "delta of the options sold together, in shares", 0.5),
                Figure("dollar_delta", "net delta times the stock price, in dollars", 50.0),
            ),
            "risk": (
                Figure("daily_deviation", "standard deviation of the book's daily profit in dollars", 2.0),
                Figure("value_at_risk_95", "one-day 95% value at risk before your trade, in dollars", 2.0),
                Figure("value_at_risk_99", "one-day 99% value at risk before your trade, in dollars", 2.0),
            ),
        }

    def fixed(self) -> Values:
        """Return the figures of the book."""
        pairs = list(zip(self.lines, self.deltas, strict=True))
        bought = sum(delta for line, delta in pairs if line.contracts > 0)
        return {
            "change": self.delta * self.spot * self.move,
            "change_of_bought": bought * self.spot * self.move,
            "net_delta": self.delta,
            "delta_of_bought": bought,
            "delta_of_sold": sum(delta for line, delta in pairs if line.contracts < 0),
            "dollar_delta": self.delta * self.spot,
            "daily_deviation": abs(self.delta) * self.spot * self.daily,
            "value_at_risk_95": self.value_at_risk(self.delta, 0.95),
            "value_at_risk_99": self.value_at_risk(self.delta, 0.99),
        }

    def of_legs(self, position: Position) -> Values:
        """Return the profit of the trade in stock."""
        return {"hedge_change": sum(holding.quantity for holding in position) * self.spot * self.move}

    def value_at_risk(self, delta: float, confidence: float) -> float:
        """Return the one-day value at risk of ``delta`` shares."""
        deviation = abs(delta) * self.spot * self.daily
        return risk.normal_value_at_risk(standard_deviation=deviation, confidence=confidence)

    def left(self, position: Position) -> float:
        """Return the delta of book and trade together."""
        return self.delta + sum(holding.quantity for holding in position)

    def structure(self, position: Position) -> Sequence[Requirement]:
        """Return whether the trade reduces the exposure."""
        return [Requirement("reduces the exposure", abs(self.left(position)) < 0.9 * abs(self.delta))]


@dataclass(frozen=True, kw_only=True)
class NetDelta(DeltaBook):
    """Greeks Analysis: make the book delta-neutral."""

    family = "net_delta"
    category = "Greeks Analysis"

    @classmethod
    def draw(cls, rng: random.Random) -> Self:
        """Draw the book."""
        spot = draw_spot(rng)
        lines = draw_lines(rng, spot)
        volatility = draw_daily_volatility(rng)
        move = rng.choice([-1, 1]) * round(log_uniform(rng, 0.005, 0.08), 3)
        return cls(spot=spot, shares=0, lines=lines, daily_volatility=volatility, move=move)

    def wanted(self) -> str:
        """Return the trade asked for."""
        return f"Make it delta-neutral with stock, to within {NEUTRAL:g} shares."

    def words(self) -> dict[str, str]:
        """Return what stands in the braces of the texts."""
        return {"neutral": f"{NEUTRAL:g}"}

    def limits(self, position: Position) -> Sequence[Requirement]:
        """Return whether the delta is gone."""
        return [Requirement(f"delta within {NEUTRAL:g} shares of zero", abs(self.left(position)) <= NEUTRAL)]

    def solution(self) -> Position:
        """Return minus the delta."""
        return (Holding(None, -round(self.delta) or 1),)


@dataclass(frozen=True, kw_only=True)
class ValueAtRiskLimit(DeltaBook):
    """Risk Management: cut the value at risk to a limit near ``fraction`` of the present one.

    The limit is rounded and the fraction is not told, so that the present value cannot be worked back from it.
    """

    family = "value_at_risk_limit"
    category = "Risk Management"

    fraction: float

    @classmethod
    def draw(cls, rng: random.Random) -> Self:
        """Draw the book."""
        spot = draw_spot(rng)
        return cls(
            spot=spot,
            lines=draw_lines(rng, spot),
            shares=rng.choice([-1, 1]) * 100 * draw_size(rng, 1),
            daily_volatility=draw_daily_volatility(rng),
            fraction=rng.uniform(0.1, 0.8),
            move=rng.choice([-1, 1]) * round(log_uniform(rng, 0.005, 0.08), 3),
        )

    @property
    def _limit(self) -> int:
        exact = self.fraction * self.value_at_risk(self.delta, 0.95)
        return int(float(f"{exact:.1e}"))

    def wanted(self) -> str:
        """Return the trade asked for."""
        return (
            f"Trade stock so that the 95% value at risk falls to at most ${self._limit:,}, but keep at least 90% of "
            "that and stay on the same side of the market."
        )

    def words(self) -> dict[str, str]:
        """Return what stands in the braces of the texts."""
        return {"limit": f"${self._limit:,}"}

    def limits(self, position: Position) -> Sequence[Requirement]:
        """Return whether the limit is kept, and used."""
        left = self.left(position)
        after = self.value_at_risk(left, 0.95)
        used = after >= 0.9 * self._limit and left * self.delta > 0
        return [
            Requirement(f"value at risk at most ${self._limit:,}", after <= self._limit + 1),
            Requirement("keeps at least 90% of the allowed risk, on the same side", used),
        ]

    def solution(self) -> Position:
        """Return the trade that leaves 96% of the limit."""
        kept = 0.96 * self._limit / self.value_at_risk(self.delta, 0.95)
        return (Holding(None, -round(self.delta * (1 - kept)) or 1),)


PRINTED_NET_DELTA = NetDelta(
    spot=450.0,
    shares=0,
    lines=(Line("450 call", 10, 0.55), Line("460 call", -5, 0.35), Line("440 put", 10, -0.30)),
    daily_volatility=0.011,
)
PRINTED_VALUE_AT_RISK = ValueAtRiskLimit(
    spot=380.0,
    shares=100,
    lines=(Line("385 call", 5, 0.48), Line("390 call", -3, 0.35)),
    daily_volatility=0.018,
    fraction=0.5,
)
