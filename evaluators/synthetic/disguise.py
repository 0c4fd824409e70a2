"""How a text tells one input: plainly, or by other figures from which it follows."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Literal, TypeAlias

from evaluators.synthetic.template import Figure, Input, Unit, show

Nature: TypeAlias = Literal["money", "percent", "years", "count", "ratio", "fixed"]
"""What kind of quantity an input is; what is ``fixed`` is always told plainly."""

FIRM_WIDE = 1e6
"""Dollars from which on a sum can be that of a whole firm."""


@dataclass(frozen=True)
class Row:
    """One figure of a text.

    Attributes
    ----------
    label
        What the text calls it.
    value
        In full units.
    write
        How it is written; also for another value, where a column beside it shows one.
    is_sum
        Whether it is a sum of dollars, which a table may show in thousands or millions.
    """

    label: str
    value: float
    write: Callable[[float], str]
    is_sum: bool = False

    @property
    def shown(self) -> str:
        """The figure as it is written."""
        return self.write(self.value)


@dataclass(frozen=True)
class Told:
    """How an input is told.

    Attributes
    ----------
    value
        The input as it follows from the figures shown.
    rows
        These figures.
    derivation
        How it follows, as an arithmetic expression.
    step
        The input as a figure that a reply may state on its way, where it takes a computation.
    """

    value: float
    rows: tuple[Row, ...]
    derivation: str
    step: Figure | None = None


_Way: TypeAlias = Callable[[random.Random, Input, float, str], Told]
_RISES = ("growth", "relative rise", "change of sales")
"""How the meaning of a relative rise begins. A fall as a positive number is none, nor is the move of a yield."""


def nature(item: Input) -> Nature:
    """Return what kind of quantity an input is."""
    if item.low == item.high:
        return "fixed"
    if item.unit != "number":
        return "money" if item.unit == "usd" else "percent"
    if "years" in item.name.split("_"):
        return "years"
    if Decimal(item.step) % 1:
        return "ratio"
    return "count" if float(item.high) >= 1000 else "fixed"


def plain(item: Input, value: float, label: str) -> Told:
    """Return an input told as it is."""
    return Told(value, (Row(label, value, writer(item.unit), item.unit == "usd"),), _text(value))


def disguised(rng: random.Random, item: Input, value: float, label: str) -> Told:
    """Return an input told by figures from which it follows; its value may move a little, to what these come to."""
    kind = nature(item)
    if kind == "fixed":
        return plain(item, value, label)
    ways: dict[Nature, tuple[_Way, ...]] = {
        "money": (_grown, _part, _a_piece if float(item.low) >= FIRM_WIDE else _grown),
        "percent": _ways_of_a_rate(item),
        "years": (_months, _dates),
        "count": (_thousands,),
        "ratio": (_grown,),
    }
    return rng.choice(ways[kind])(rng, item, value, label)


def writer(unit: Unit) -> Callable[[float], str]:
    """Return how figures of a unit are written."""
    return lambda value: show(value, unit)


def exact(value: float, unit: Unit) -> float:
    """Return a figure with four significant digits, or as many as it is written with."""
    return round(rounded(value), 2) if unit == "usd" else rounded(value)


def rounded(value: float, digits: int = 4) -> float:
    """Return a figure with so many significant digits."""
    return float(f"{value:.{digits}g}")


def _text(value: float) -> str:
    return f"({value!r})" if value < 0 else format(Decimal(repr(value)), "f")


def _step(item: Input) -> Figure:
    return Figure(item.name, item.meaning, item.unit)


def _ways_of_a_rate(item: Input) -> tuple[_Way, ...]:
    """Return how a rate may be told: by two levels only where it is the relative rise from one to the other."""
    if item.meaning.startswith(_RISES):
        return (_levels,)
    return (_basis_points,) if float(item.low) < 0 else (_basis_points, _spread, _on_a_thousand)


def _grown(rng: random.Random, item: Input, value: float, label: str) -> Told:
    growth = rng.choice((-1, 1)) * rng.randint(8, 60) / 400
    before = exact(value / (1 + growth), item.unit)
    rows = (
        Row(f"{label}, a year earlier", before, writer(item.unit), item.unit == "usd"),
        Row(f"relative change of {label} against a year earlier", growth, writer("percent")),
    )
    derivation = f"{_text(before)} * (1 + {_text(growth)})"
    return Told(before * (1 + growth), rows, derivation, _step(item))


def _part(rng: random.Random, item: Input, value: float, label: str) -> Told:
    part = rng.randint(30, 190) / 200
    whole = exact(value / part, "usd")
    rows = (
        Row(f"sum of {label} and of the same item of a subsidiary", whole, writer("usd"), True),
        Row(f"part of that sum which is {label}", part, writer("percent")),
    )
    return Told(whole * part, rows, f"{_text(whole)} * {_text(part)}", _step(item))


def _a_piece(rng: random.Random, item: Input, value: float, label: str) -> Told:
    each = rng.randint(41, 990) / 20
    pieces = rounded(value / each)
    rows = (
        Row(f"{label} for each share", each, writer("usd")),
        Row(f"shares counted for {label}", pieces, writer("number")),
    )
    return Told(each * pieces, rows, f"{_text(each)} * {_text(pieces)}", _step(item))


def _basis_points(rng: random.Random, item: Input, value: float, label: str) -> Told:
    return Told(
        value, (Row(label, value, lambda rate: f"{rate * 1e4:.0f} basis points"),), f"{value * 1e4:.0f} / 10000"
    )


def _spread(rng: random.Random, item: Input, value: float, label: str) -> Told:
    spread = rng.choice((-1, 1)) * rng.randint(7, 90) / 1e4 if abs(value) > 0.02 else rng.randint(7, 40) / 1e4
    base = round(value - spread, 4)
    way = "rise" if spread > 0 else "fall"
    rows = (
        Row(f"{label}, at the last review", base, writer("percent")),
        Row(
            f"{way} of {label} since that review",
            abs(spread),
            lambda rate: f"{rate * 1e4:.0f} basis points",
        ),
    )
    sign = "+" if spread > 0 else "-"
    derivation = f"{_text(base)} {sign} {abs(spread) * 1e4:.0f} / 10000"
    return Told(base + spread, rows, derivation, _step(item))


def _on_a_thousand(rng: random.Random, item: Input, value: float, label: str) -> Told:
    base = rng.choice((250, 400, 800, 1250, 2000, 5000))
    return Told(
        value,
        (Row(f"{label}, in dollars on every ${base:,}", value, lambda rate: f"${_short(rate * base)}"),),
        f"{_short(value * base)} / {base}",
    )


def _levels(rng: random.Random, item: Input, value: float, label: str) -> Told:
    before = float(rng.randrange(400, 9000, 20))
    after = rounded(before * (1 + value), 6)
    rows = (
        Row(f"level before {label}", before, writer("number")),
        Row(f"level after {label}", after, writer("number")),
    )
    return Told(after / before - 1, rows, f"{_text(after)} / {_text(before)} - 1", _step(item))


def _months(rng: random.Random, item: Input, value: float, label: str) -> Told:
    return Told(value, (Row(label, value, lambda years: f"{years * 12:g} months"),), f"{value * 12:g} / 12")


def _dates(rng: random.Random, item: Input, value: float, label: str) -> Told:
    if value * 12 != int(value * 12):
        return plain(item, value, label)
    year, month, day = rng.randint(2012, 2024), rng.randint(1, 12), rng.randint(1, 28)

    def period(years: float) -> str:
        months = month - 1 + round(years * 12)
        end = date(year + months // 12, months % 12 + 1, day)
        return f"from {date(year, month, day).isoformat()} to {end.isoformat()}"

    return Told(value, (Row(label, value, period),), _text(value))


def _thousands(rng: random.Random, item: Input, value: float, label: str) -> Told:
    return Told(value, (Row(f"{label}, in thousands", value, lambda count: _short(count / 1e3)),), _text(value))


def _short(value: float) -> str:
    return f"{value:.6f}".rstrip("0").rstrip(".")
