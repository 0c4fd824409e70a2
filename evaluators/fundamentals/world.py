"""What questions are drawn from: the companies of the run's lake, and one company's figures on one date."""

from __future__ import annotations

import random
from collections.abc import Collection
from dataclasses import dataclass
from datetime import date, timedelta
from functools import cached_property, lru_cache

from lake.edgar import figures
from lake.fundamentals import LINE_ITEMS, Company, Version
from lake.point_in_time import UnknownKey, known_count
from lake.records import Facts
from lake.sample import Lake
from lake.simulated_filers.directory import TICKER

LAST_FILING = date(2027, 6, 30)
"""Companies, years and restatements are drawn from what was filed by then. A task's own date, on which its gold answer
is computed, follows the filing that it asks about, and may be later than this day."""
FIRST_YEAR, LAST_YEAR = 2010, 2026
"""Fiscal years that are asked about."""
PULLED_SHARE = 0.5
"""Share of draws among the companies that a config names, where it names some."""
PARTS = {"Q1": ("Q1",), "Q2": ("Q1", "Q2"), "Q3": ("Q1", "Q2", "Q3")}
TRAILING = {"T1": "Q1", "T2": "Q2", "T3": "Q3"}
"""Four quarters up to the end of a quarter -> that quarter."""
ITEMS = {tag: item for item, tags in LINE_ITEMS.items() for tag in tags}
"""Tag -> the line item that it carried."""
KEPT = 512
"""Companies whose figures are kept: all simulated ones and some others."""


class Lacking(LookupError):
    """A figure was not known, or is none that a ratio can be taken to."""


class Filed:
    """Everything that a company filed, with the rows of each line item and fiscal year."""

    def __init__(self, facts: Facts) -> None:
        self.facts = facts
        self._rows: dict[str, dict[int, list[int]]] = {item: {} for item in LINE_ITEMS}
        for row, (tag, year) in enumerate(zip(facts.concept, facts.fiscal_year, strict=True)):
            if tag in ITEMS:
                self._rows[ITEMS[tag]].setdefault(year, []).append(row)

    def of_item(self, item: str, year: int | None, *, known: int) -> Facts:
        """Return the rows of a line item, of one fiscal year or (None) of all, that are among the first ``known``."""
        years = self._rows[item]
        found = years.values() if year is None else [years.get(year, [])]
        return self.facts.take(row for rows in found for row in rows if row < known)

    @cached_property
    def annual(self) -> dict[int, int]:
        """Fiscal year -> the first row of its annual figures, in the order of the years."""
        found = {
            year: next((row for row in rows if self.facts.fiscal_period[row] == "FY"), None)
            for year, rows in sorted(self._rows["NetIncome"].items())
        }
        return {year: row for year, row in found.items() if row is not None}


@dataclass(frozen=True)
class Book:
    """One company's figures as known on one date.

    Attributes
    ----------
    filed
        What it filed by that date, and maybe later.
    """

    company: Company
    as_of: date
    filed: Filed

    @cached_property
    def known(self) -> int:
        """How many rows of what it filed were known: the first so many."""
        return known_count(self.filed.facts, as_of=self.as_of)

    def of_item(self, item: str, year: int | None = None) -> Facts:
        """Return every row of a line item, or those of a fiscal year."""
        return self.filed.of_item(item, year, known=self.known)

    def row(self, item: str, year: int, period: str = "FY", version: Version = "latest") -> Facts:
        """Return the one-row record of a figure, filed or derived; :class:`Lacking` when it was not known."""
        found = figures.select(self.of_item(item, year), item, fiscal_year=year, fiscal_period=period, version=version)
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
        known = [year for year, row in self.filed.annual.items() if row < self.known]
        return [year for year in known if first <= year <= LAST_YEAR]

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

    def __post_init__(self) -> None:
        self._filed = lru_cache(maxsize=KEPT)(self._read)
        everyone = self.lake.facts.keys(as_of=LAST_FILING)
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
        # of a simulated filer a later day changes nothing before it; a provider's company may have another source then
        simulated = company.ticker.startswith(TICKER)
        try:
            filed = self._filed(company.ticker, date.max if simulated else as_of)
        except UnknownKey as error:
            raise Lacking(str(error)) from error
        book = Book(company, as_of, filed)
        if not book.known:
            raise Lacking(f"{company.ticker} had filed nothing by {as_of}")
        return book

    def _read(self, ticker: str, as_of: date) -> Filed:
        return Filed(self.lake.facts.known(ticker, as_of=as_of))

    def annual(self, rng: random.Random, company: Company, *, history: int = 0) -> tuple[int, date]:
        """Draw a fiscal year with so many known before it, and a simulation date some months after its report."""
        full = self.book(company, LAST_FILING)
        years = full.years()[history:]
        if not years:
            raise Lacking(f"{company.ticker} has no {history + 1} years")
        year = rng.choice(years)
        filed = full.row("NetIncome", year, version="original").known_on[0]
        return year, filed + timedelta(days=rng.randint(1, 240))
