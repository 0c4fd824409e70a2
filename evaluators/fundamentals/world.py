"""What questions are drawn from: the companies of the run's lake, and one company's figures on one date."""

from __future__ import annotations

import random
from collections.abc import Collection
from dataclasses import dataclass, field
from datetime import date, timedelta
from typing import TypeAlias

from lake import fundamentals
from lake.edgar import figures
from lake.fundamentals import Company, Version
from lake.point_in_time import UnknownKey
from lake.records import Facts
from lake.sample import Lake
from lake.simulated_filers.directory import TICKER

LAST_DAY = date(2027, 6, 30)
"""Later than any simulation date: used to choose a period, never to compute a gold answer."""
FIRST_YEAR, LAST_YEAR = 2010, 2026
"""Fiscal years that are asked about."""
PULLED_SHARE = 0.5
"""Share of draws among the companies that a config names, where it names some."""
PARTS = {"Q1": ("Q1",), "Q2": ("Q1", "Q2"), "Q3": ("Q1", "Q2", "Q3")}
TRAILING = {"T1": "Q1", "T2": "Q2", "T3": "Q3"}
"""Four quarters up to the end of a quarter -> that quarter."""
Key: TypeAlias = tuple[str, date]


class Lacking(LookupError):
    """A figure was not known, or is none that a ratio can be taken to."""


class Book:
    """One company's figures as known on one date."""

    def __init__(self, company: Company, as_of: date, lake: Lake) -> None:
        self.company = company
        self.as_of = as_of
        self._facts = lake.facts.known(company.ticker, as_of=as_of)
        self._items: dict[str, Facts] = {}
        # one walk over the rows, for all items
        self._rows: dict[str, list[int]] = {}
        for row, tag in enumerate(self._facts.concept):
            self._rows.setdefault(tag, []).append(row)

    def of_item(self, item: str) -> Facts:
        """Return every row of a line item."""
        if item not in self._items:
            tags = fundamentals.concepts_of(item)
            self._items[item] = self._facts.take(row for tag in tags for row in self._rows.get(tag, ()))
        return self._items[item]

    def row(self, item: str, year: int, period: str = "FY", version: Version = "latest") -> Facts:
        """Return the one-row record of a figure, filed or derived; :class:`Lacking` when it was not known."""
        found = figures.select(self.of_item(item), item, fiscal_year=year, fiscal_period=period, version=version)
        if not len(found):
            raise Lacking(f"{self.company.ticker} {item} {period} {year}")
        return found

    def figure(self, item: str, year: int, period: str = "FY", version: Version = "latest") -> float:
        """Return a figure in full units; ``T1`` to ``T3`` are the four quarters up to Q1 to Q3."""
        if period in TRAILING:
            parts = PARTS[TRAILING[period]]
            now = sum(self.figure(item, year, part, version) for part in parts)
            before = sum(self.figure(item, year - 1, part, version) for part in parts)
            return self.figure(item, year - 1, "FY", version) + now - before
        return self.row(item, year, period, version).value[0]

    def years(self, first: int = FIRST_YEAR) -> list[int]:
        """Return the fiscal years from ``first`` on whose annual figures were known."""
        rows = self.of_item("NetIncome")
        years = {year for year, period in zip(rows.fiscal_year, rows.fiscal_period, strict=True) if period == "FY"}
        return sorted(year for year in years if first <= year <= LAST_YEAR)

    def year_end(self, year: int) -> date:
        """Return the last day of a fiscal year."""
        return self.row("NetIncome", year).period_end[0]


@dataclass(frozen=True)
class View:
    """A company's figures of one period, in one version: what a measure is computed from."""

    book: Book
    year: int
    period: str = "FY"
    version: Version = "latest"

    def flow(self, item: str) -> float:
        """Return what flowed in the period."""
        return self.book.figure(item, self.year, self.period, self.version)

    def stock(self, item: str) -> float:
        """Return a balance at its end."""
        period = {"Q4": "FY"}.get(self.period, TRAILING.get(self.period, self.period))
        return self.book.figure(item, self.year, period, self.version)

    def base(self, item: str) -> float:
        """Return a flow that a ratio can be taken to or a growth rate from."""
        return _positive(self.flow(item), item)

    def base_stock(self, item: str) -> float:
        """Return a balance that a ratio can be taken to."""
        return _positive(self.stock(item), item)

    def back(self, years: int = 1) -> View:
        """Return the same period of an earlier year."""
        return View(self.book, self.year - years, self.period, self.version)


def _positive(value: float, item: str) -> float:
    if value <= 0:
        raise Lacking(f"{item} is {value}")
    return value


@dataclass
class World:
    """The companies that are asked about, and the lake that knows them.

    Attributes
    ----------
    pulled
        Tickers of companies that the run's config put into the lake.
    """

    lake: Lake
    pulled: Collection[str] = ()
    _books: dict[Key, Book] = field(default_factory=dict)

    def __post_init__(self) -> None:
        everyone = self.lake.facts.keys(as_of=LAST_DAY)
        self._named = sorted(self.pulled)
        self._rest = [ticker for ticker in everyone if ticker not in set(self._named)]
        self._simulated = [ticker for ticker in everyone if ticker.startswith(TICKER)]

    def any_company(self, rng: random.Random, *, simulated: bool = False) -> Company:
        """Draw a company; with ``simulated`` one whose texts have known facts behind them."""
        names = self._simulated if simulated else self._rest
        if self._named and not simulated and rng.random() < PULLED_SHARE:
            names = self._named
        company = self.lake.companies.find(rng.choice(names))
        if company is None:
            raise Lacking("a company without an entry in the directory")
        return company

    def book(self, company: Company, as_of: date) -> Book:
        """Return a company's figures on a date; :class:`Lacking` where it had none."""
        key = (company.ticker, as_of)
        if key not in self._books:
            if len(self._books) > 256:
                self._books.clear()
            try:
                self._books[key] = Book(company, as_of, self.lake)
            except UnknownKey as error:
                raise Lacking(str(error)) from error
        return self._books[key]

    def annual(self, rng: random.Random, company: Company, *, history: int = 0) -> tuple[int, date]:
        """Draw a fiscal year with so many known before it, and a simulation date some months after its report."""
        full = self.book(company, LAST_DAY)
        years = full.years()[history:]
        if not years:
            raise Lacking(f"{company.ticker} has no {history + 1} years")
        year = rng.choice(years)
        filed = full.row("NetIncome", year, version="original").known_on[0]
        return year, filed + timedelta(days=rng.randint(1, 240))
