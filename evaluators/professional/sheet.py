"""What an assignment gives to work with: single figures and tables, before they are told."""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from evaluators.professional.figures import Unit, Value


class Fact(NamedTuple):
    """A single figure, date or word; ``names`` are what it may be called."""

    names: tuple[str, ...]
    value: Value
    unit: Unit = "number"


class Heading(NamedTuple):
    """A column and what it may be called."""

    names: tuple[str, ...]
    unit: Unit = "number"


@dataclass(frozen=True)
class Exhibit:
    """A table of inputs.

    Attributes
    ----------
    titles
        What it may be called.
    headings, rows
        The first column names the row.
    spare
        Names of rows that are none of the assignment's.
    beside
        Columns that nothing follows from, with their cells.
    """

    titles: tuple[str, ...]
    headings: tuple[Heading, ...]
    rows: tuple[tuple[Value, ...], ...]
    spare: tuple[str, ...] = ()
    beside: tuple[tuple[Heading, tuple[Value, ...]], ...] = ()


@dataclass(frozen=True)
class Sheet:
    """Everything that the figures follow from, and ``beside`` it facts that nothing follows from."""

    facts: tuple[Fact, ...] = ()
    exhibits: tuple[Exhibit, ...] = ()
    beside: tuple[Fact, ...] = ()


def column(
    rng: random.Random, heading: Heading, rows: Iterable[object], low: float, high: float, digits: int = 0
) -> tuple[Heading, tuple[Value, ...]]:
    """Draw a column beside a table, a cell for each of its rows."""
    cells = tuple(round(rng.uniform(low, high), digits) if digits else round(rng.uniform(low, high)) for _ in rows)
    return heading, cells
