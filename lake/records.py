"""The columnar records that sources return. A record is a set of equally long columns, one entry per observation."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any, Self


@dataclass(frozen=True)
class Columns:
    """Equally long columns whose first, ``known_on``, is the day each row became public, in ascending order."""

    known_on: tuple[date, ...]

    def __post_init__(self) -> None:
        lengths = {name: len(column) for name, column in self.columns()}
        if len(set(lengths.values())) > 1:
            raise ValueError(f"columns of {type(self).__name__} differ in length: {lengths}")
        if any(later < earlier for earlier, later in zip(self.known_on, self.known_on[1:], strict=False)):
            raise ValueError(f"{type(self).__name__}.known_on must be ascending")

    def __len__(self) -> int:
        return len(self.known_on)

    def columns(self) -> Iterator[tuple[str, tuple[Any, ...]]]:
        """Yield ``(name, column)``."""
        for field in dataclasses.fields(self):
            yield field.name, getattr(self, field.name)

    def take(self, rows: Iterable[int]) -> Self:
        """Return the given rows, in ascending order of their number."""
        chosen = sorted(rows)
        return type(self)(**{name: tuple(column[row] for row in chosen) for name, column in self.columns()})

    def head(self, count: int) -> Self:
        """Return the first ``count`` rows."""
        return type(self)(**{name: column[:count] for name, column in self.columns()})

    @classmethod
    def of(cls, rows: Sequence[tuple[Any, ...]]) -> Self:
        """Build from rows in the order of the fields; they are sorted by ``known_on`` (stable)."""
        names = [field.name for field in dataclasses.fields(cls)]
        ordered = sorted(rows, key=lambda row: row[0])
        columns = zip(*ordered, strict=True) if ordered else ((),) * len(names)
        return cls(**dict(zip(names, (tuple(column) for column in columns), strict=True)))


@dataclass(frozen=True)
class Facts(Columns):
    """Figures that a company reported to the SEC; ``known_on`` is the filing date.

    Attributes
    ----------
    concept
        XBRL tag of the us-gaap taxonomy, as filed.
    fiscal_year, fiscal_period
        Of the **period** (not of the filing that repeats it), by the company's own calendar; ``FY``, ``Q1``-``Q3``.
    period_start
        First day of the period; None for a balance at ``period_end``.
    value, unit
        ``USD``, ``USD/shares`` or ``shares``; never scaled.
    form, accession
        The filing that the figure stands in.
    """

    concept: tuple[str, ...]
    fiscal_year: tuple[int, ...]
    fiscal_period: tuple[str, ...]
    period_start: tuple[date | None, ...]
    period_end: tuple[date, ...]
    value: tuple[float, ...]
    unit: tuple[str, ...]
    form: tuple[str, ...]
    accession: tuple[str, ...]


@dataclass(frozen=True)
class Bars(Columns):
    """Daily bars; a bar is known on the evening of its day, so ``known_on`` is the trading date.

    Attributes
    ----------
    open, high, low, close
        Prices in US dollars, not adjusted for splits or dividends (``known_on`` order, one bar a day).
    volume
        Shares traded.
    """

    open: tuple[float, ...]
    high: tuple[float, ...]
    low: tuple[float, ...]
    close: tuple[float, ...]
    volume: tuple[float, ...]


@dataclass(frozen=True)
class Observations(Columns):
    """One published figure a date, such as an interest rate.

    Attributes
    ----------
    day
        The day that the value is of; it may be published later.
    value
        In the unit that the series states.
    """

    day: tuple[date, ...]
    value: tuple[float, ...]
