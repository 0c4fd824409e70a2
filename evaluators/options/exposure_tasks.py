"""Greeks Analysis and Risk Management on stated deltas: net delta, delta-neutral hedge, value at risk and its limit."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

from evaluators.contract import Json
from evaluators.options.chain import CONTRACT_SIZE, Holding, Position
from evaluators.options.problem import Figure, Figures, Problem, Requirement
from evaluators.options.wording import percent
from pricing import risk


@dataclass(frozen=True)
class Line:
    """A position of the book: contracts of one series with its delta per share, signed."""

    label: str
    contracts: int
    delta: float

    @property
    def shares(self) -> float:
        """Its delta in shares."""
        return self.contracts * CONTRACT_SIZE * self.delta


@dataclass(frozen=True, kw_only=True)
class DeltaBook:
    """A book with stated deltas.

    ``value_at_risk_limit`` is a fraction of the book's own value at risk: 0 asks for a delta-neutral hedge.
    """

    spot: float
    stock: int
    lines: tuple[Line, ...]
    daily_volatility: float
    value_at_risk_limit: float
    move: float = 0.02

    @classmethod
    def draw(cls, rng: random.Random, *, neutral: bool) -> DeltaBook:
        """Draw the book."""
        spot = float(rng.randint(60, 620))
        lines = []
        for kind, sign in rng.sample([("call", 1), ("call", 1), ("put", -1), ("put", -1)], 3):
            strike = round(spot * rng.uniform(0.92, 1.08))
            contracts = rng.choice([-1, 1]) * rng.randint(3, 40)
            lines.append(Line(f"{strike} {kind}", contracts, sign * rng.randint(12, 72) / 100))
        return cls(
            spot=spot,
            stock=0 if neutral else rng.randint(-12, 12) * 100,
            lines=tuple(lines),
            daily_volatility=rng.randint(80, 350) / 10_000,
            value_at_risk_limit=0.0 if neutral else rng.choice([0.4, 0.5, 0.6]),
            move=rng.choice([-1, 1]) * rng.randint(10, 45) / 1000,
        )

    @property
    def delta(self) -> float:
        """Net delta in shares."""
        return self.stock + sum(line.shares for line in self.lines)

    def _value_at_risk(self, delta: float, confidence: float) -> float:
        deviation = abs(delta) * self.spot * self.daily_volatility
        return risk.normal_value_at_risk(standard_deviation=deviation, confidence=confidence)

    def problem(self) -> Problem:
        """Return the task."""
        delta, jump, neutral = self.delta, self.spot * self.move, self.value_at_risk_limit == 0
        bought = sum(line.shares for line in self.lines if line.contracts > 0)
        sold = sum(line.shares for line in self.lines if line.contracts < 0)
        limit = round(self.value_at_risk_limit * self._value_at_risk(delta, 0.95))
        tolerance = max(1.0, 0.02 * abs(delta))

        def truth(position: Position | None) -> Figures:
            fixed = {
                "change": delta * jump,
                "change_of_bought": bought * jump,
                "net_delta": delta,
                "delta_of_bought": bought,
                "delta_of_sold": sold,
                "dollar_delta": delta * self.spot,
                "daily_deviation": abs(delta) * self.spot * self.daily_volatility,
                "value_at_risk_95": self._value_at_risk(delta, 0.95),
                "value_at_risk_99": self._value_at_risk(delta, 0.99),
            }
            if position is None:
                return fixed
            return {**fixed, "hedge_change": sum(holding.quantity for holding in position) * jump}

        def left(position: Position) -> float:
            return delta + sum(holding.quantity for holding in position)

        def structure(position: Position) -> Sequence[Requirement]:
            return [
                Requirement("stock only", all(holding.series is None for holding in position)),
                Requirement("reduces the exposure", abs(left(position)) < 0.9 * abs(delta)),
            ]

        def limits(position: Position) -> Sequence[Requirement]:
            rest = left(position)
            if neutral:
                return [Requirement(f"delta within {tolerance:g} shares of zero", abs(rest) <= tolerance)]
            after = self._value_at_risk(rest, 0.95)
            return [
                Requirement(f"value at risk at most ${limit:,}", after <= limit + 1),
                Requirement("keeps at least 90% of the allowed risk, on the same side",
                            after >= 0.9 * limit and rest * delta > 0),
            ]  # fmt: skip

        if neutral:
            wanted = f"Make it delta-neutral with stock, to within {tolerance:.4g} shares."
            solution = -round(delta)
        else:
            wanted = (
                f"Trade stock so that the 95% value at risk falls to at most ${limit:,}, but keep at least 90% of that "
                "and stay on the same side of the market."
            )
            solution = -round(delta * (1 - 0.96 * self.value_at_risk_limit))
        rows: list[Json] = [
            {"option": x.label, "contracts": x.contracts, "delta_per_share": x.delta} for x in self.lines
        ]
        holdings = f"{self.stock} shares and options" if self.stock else "options"
        return Problem(
            family="net_delta" if neutral else "value_at_risk_limit",
            category="Greeks Analysis" if neutral else "Risk Management",
            question=(
                f"A book holds {holdings} on a stock at ${self.spot:g}: see the list (contracts of 100 shares, "
                f"negative when sold; deltas per share). The daily volatility of the stock is "
                f"{percent(self.daily_volatility)}, returns are normal without drift, and the book is judged by its "
                "delta alone. Give its exposure and "
                f"its one-day value at risk. {wanted}"
            ),
            context={
                "spot": self.spot,
                "shares": self.stock,
                "options": rows,
                "daily_volatility": self.daily_volatility,
                "move": self.move,
            },
            legs_wanted='The only leg is the trade in "stock", in whole shares.',
            figures={
                "pnl": (
                    Figure("change", f"change of the value of the book in dollars, with its sign, by delta alone, when "
                           f"the stock moves by {percent(self.move)}", 2.0),
                    Figure("change_of_bought", "part of it that is due to the options bought", 2.0),
                    Figure("hedge_change", "what your trade in stock adds to it, in dollars, with its sign", 2.0,
                           of_legs=True),
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
            },
            series=(),
            stock=True,
            truth=truth,
            structure=structure,
            limits=limits,
            solution=(Holding(None, solution or 1),),
        )  # fmt: skip


PRINTED_NET_DELTA = DeltaBook(
    spot=450.0,
    stock=0,
    lines=(Line("450 call", 10, 0.55), Line("460 call", -5, 0.35), Line("440 put", 10, -0.30)),
    daily_volatility=0.011,
    value_at_risk_limit=0.0,
)
PRINTED_VALUE_AT_RISK = DeltaBook(
    spot=380.0,
    stock=100,
    lines=(Line("385 call", 5, 0.48), Line("390 call", -3, 0.35)),
    daily_volatility=0.018,
    value_at_risk_limit=0.5,
)
