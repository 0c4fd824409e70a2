"""The columnar records that sources return. A record is a set of equally long columns, one entry per observation."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, Self


@dataclass(frozen=True)
class Columns:
    """Equally long columns whose first, ``known_on``, is the day each row became public, in ascending order."""

    known_on: tuple[date, ...]

    def __post_init__(self) -> None:
        if len({len(column) for _, column in self.columns()}) > 1:
            lengths = {name: len(column) for name, column in self.columns()}
            raise ValueError(f"columns of {type(self).__name__} differ in length: {lengths}")
        if list(self.known_on) != sorted(self.known_on):
            raise ValueError(f"{type(self).__name__}.known_on must be ascending")

    def __len__(self) -> int:
        return len(self.known_on)

    def columns(self) -> Iterator[tuple[str, tuple[Any, ...]]]:
        """Return each ``(name, column)``."""
        return iter(vars(self).items())

    def take(self, rows: Iterable[int]) -> Self:
        """Return the given rows, in ascending order of their number."""
        chosen = sorted(rows)
        return type(self)(**{name: tuple(map(column.__getitem__, chosen)) for name, column in self.columns()})

    def head(self, count: int) -> Self:
        """Return the first ``count`` rows."""
        if count >= len(self):
            return self
        # not checked again: the beginning of equally long, ascending columns is that, too
        part = object.__new__(type(self))
        vars(part).update((name, column[:count]) for name, column in self.columns())
        return part

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


@dataclass(frozen=True)
class FilingIndex(Columns):
    """Filings with the SEC; ``known_on`` is the day in New York on which one was accepted and, later, filed.

    Attributes
    ----------
    accepted
        When EDGAR accepted it.
    period_of_report
        Last day of the period reported on; None where the form has none.
    items
        Of an 8-K, between commas: ``2.02,9.01``.
    document
        File name of the main document.
    """

    accepted: tuple[datetime, ...]
    form: tuple[str, ...]
    accession: tuple[str, ...]
    period_of_report: tuple[date | None, ...]
    items: tuple[str, ...]
    document: tuple[str, ...]
    title: tuple[str, ...]


@dataclass(frozen=True)
class Sections(Columns):
    """The text of filings, one row a section.

    Attributes
    ----------
    number
        Place of the section in the document.
    section
        ``1A`` of a 10-K, ``I-2`` (part and item) of a 10-Q, ``2.02`` of an 8-K; ``EX-99.1`` of an exhibit; empty for
        what stands before the first heading.
    """

    ticker: tuple[str, ...]
    accession: tuple[str, ...]
    form: tuple[str, ...]
    number: tuple[int, ...]
    section: tuple[str, ...]
    title: tuple[str, ...]
    text: tuple[str, ...]


@dataclass(frozen=True)
class Actions(Columns):
    """Splits and dividends; ``known_on`` is the ex-date, for Yahoo does not tell when one was announced.

    Attributes
    ----------
    kind
        ``split`` or ``dividend``.
    value
        Shares that one share becomes, or USD a share as paid on the day (not adjusted for later splits).
    """

    kind: tuple[str, ...]
    value: tuple[float, ...]


@dataclass(frozen=True)
class Earnings(Columns):
    """Earnings announcements, and the dates at which some are expected.

    A row becomes known with its figures on the day it was reported; one of an expected date, on the day it was read.

    Attributes
    ----------
    announced
        When results were, or are expected to be, announced.
    eps_estimate, eps_reported
        USD a share, as the provider shows them; None where it has none.
    """

    announced: tuple[datetime, ...]
    eps_estimate: tuple[float | None, ...]
    eps_reported: tuple[float | None, ...]


@dataclass(frozen=True)
class Estimates(Columns):
    """What analysts expected; known from the day on which it was read, for the provider shows only today's.

    Attributes
    ----------
    measure
        ``eps`` or ``revenue``.
    period
        ``0q``, ``+1q``, ``0y``, ``+1y`` as seen from ``known_on``.
    average, low, high, year_ago
        USD a share, or USD.
    analysts
        Their number.
    """

    measure: tuple[str, ...]
    period: tuple[str, ...]
    average: tuple[float | None, ...]
    low: tuple[float | None, ...]
    high: tuple[float | None, ...]
    year_ago: tuple[float | None, ...]
    analysts: tuple[int | None, ...]


@dataclass(frozen=True)
class StatementLines(Columns):
    """Lines of statements as a provider shows them; known from the day on which they were read.

    The provider does not say when a figure was published and overwrites it when it is restated.

    Attributes
    ----------
    statement
        ``income``, ``balance`` or ``cash_flow``.
    frequency
        ``annual`` or ``quarterly``.
    """

    statement: tuple[str, ...]
    frequency: tuple[str, ...]
    period_end: tuple[date, ...]
    line_item: tuple[str, ...]
    value: tuple[float, ...]


@dataclass(frozen=True)
class News(Columns):
    """Headlines; ``known_on`` is the day of publication in New York."""

    published: tuple[datetime, ...]
    title: tuple[str, ...]
    publisher: tuple[str, ...]
    summary: tuple[str, ...]
    url: tuple[str, ...]


@dataclass(frozen=True)
class OptionQuotes(Columns):
    """Quotes of listed options, one snapshot a reading; known from the day on which they were read.

    Attributes
    ----------
    read_at
        When the snapshot was read.
    spot
        Price of the underlying in the same answer, USD.
    last, bid, ask
        USD a share; None where there is none.
    implied_volatility
        As the provider computes it, decimal a year.
    """

    read_at: tuple[datetime, ...]
    spot: tuple[float | None, ...]
    expiration: tuple[date, ...]
    option_type: tuple[str, ...]
    strike: tuple[float, ...]
    last: tuple[float | None, ...]
    bid: tuple[float | None, ...]
    ask: tuple[float | None, ...]
    volume: tuple[float | None, ...]
    open_interest: tuple[float | None, ...]
    implied_volatility: tuple[float | None, ...]


@dataclass(frozen=True)
class CryptoBars(Columns):
    """Candles of a crypto market; one is known when it has closed, so ``known_on`` is the UTC day of its last moment.

    Attributes
    ----------
    opened
        When the candle opened, UTC.
    open, high, low, close
        In the quote currency.
    volume
        In the base currency.
    """

    opened: tuple[datetime, ...]
    open: tuple[float, ...]
    high: tuple[float, ...]
    low: tuple[float, ...]
    close: tuple[float, ...]
    volume: tuple[float, ...]


@dataclass(frozen=True)
class FundingRates(Columns):
    """Funding of a perpetual future; ``rate`` is the fraction of notional that a long pays a short at ``paid``."""

    paid: tuple[datetime, ...]
    rate: tuple[float, ...]


@dataclass(frozen=True)
class OrderBooks(Columns):
    """Snapshots of an order book, one row a level; known from the UTC day on which one was read.

    Attributes
    ----------
    read_at
        When the snapshot was read, by the exchange's clock where it tells.
    side
        ``bid`` or ``ask``.
    level
        1 is the best.
    price, quantity
        In the quote currency; in the base currency.
    """

    read_at: tuple[datetime, ...]
    side: tuple[str, ...]
    level: tuple[int, ...]
    price: tuple[float, ...]
    quantity: tuple[float, ...]
