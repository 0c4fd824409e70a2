"""A drawn question, and the company figures it is computed from."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, timedelta
from functools import cached_property

from evaluators.answers.expected import Expected
from lake import fundamentals
from lake.fundamentals import COMPANIES, Company, Version
from lake.records import Facts
from lake.sample import Lake

LAST_DAY = date(2100, 1, 1)
"""Later than anything in the lake: used to choose a period, never to compute a gold answer."""


class NotDrawable(LookupError):
    """The drawn period lacks a figure that the question needs; the next draw is tried."""


@dataclass(frozen=True)
class Question:
    """A question with its truth.

    Attributes
    ----------
    text
        What is asked, with its definitions.
    expected
        The gold answer and its tolerance.
    as_of
        Simulation date; the gold answer uses nothing known later.
    ticker
        The company or share asked about.
    fiscal_year
        The fiscal year asked about, None for questions on prices.
    """

    text: str
    expected: Expected
    as_of: date
    ticker: str
    fiscal_year: int | None = None


@dataclass(frozen=True)
class Template:
    """A kind of question.

    Attributes
    ----------
    name
        Also the family of its tasks: their errors are not independent.
    category
        FAB++ category.
    draw
        Draws one question; raises :class:`NotDrawable` when the drawn period lacks a figure.
    servers
        Tool servers without which the question cannot be answered.
    """

    name: str
    category: str
    draw: Callable[[random.Random, Lake], Question]
    servers: tuple[str, ...] = ("edgar",)


@dataclass(frozen=True)
class Book:
    """One company's figures as known on one date."""

    company: Company
    as_of: date
    lake: Lake

    @cached_property
    def facts(self) -> Facts:
        """Everything known on ``as_of``."""
        return self.lake.facts.known(self.company.ticker, as_of=self.as_of)

    @property
    def label(self) -> str:
        """Name and ticker."""
        return f"{self.company.name} ({self.company.ticker})"

    @property
    def as_known(self) -> str:
        """The sentence that fixes which version of a restated figure is meant."""
        return f"Use the figures as last reported by the simulation date ({self.as_of})."

    def row(self, item: str, fiscal_year: int, period: str = "FY", version: Version = "latest") -> Facts:
        """Return the one-row record of a figure; :class:`NotDrawable` when it was not known."""
        found = fundamentals.select(self.facts, item, fiscal_year=fiscal_year, fiscal_period=period, version=version)
        if not len(found):
            raise NotDrawable(f"{self.company.ticker} {item} {period} {fiscal_year}")
        return found

    def figure(self, item: str, fiscal_year: int, period: str = "FY", version: Version = "latest") -> float:
        """Return a figure in full units."""
        return self.row(item, fiscal_year, period, version).value[0]

    def positive(self, item: str, fiscal_year: int, period: str = "FY") -> float:
        """Return a figure that a ratio can be taken to or a growth rate from."""
        value = self.figure(item, fiscal_year, period)
        if value <= 0:
            raise NotDrawable(f"{self.company.ticker} {item} {period} {fiscal_year} is {value}")
        return value

    def year_named(self, fiscal_year: int) -> str:
        """Return the fiscal year with its last day, which differs between companies."""
        end = self.row("NetIncome", fiscal_year).period_end[0]
        return f"fiscal {fiscal_year} (ended {end.day} {end:%B %Y})"


def any_company(rng: random.Random) -> Company:
    """Draw a company."""
    return COMPANIES[rng.choice(sorted(COMPANIES))]


def any_annual_book(rng: random.Random, lake: Lake, *, first_year: int = 2010) -> tuple[Book, int]:
    """Draw a company, a fiscal year and a simulation date within some months after its annual report."""
    company = any_company(rng)
    full = Book(company, LAST_DAY, lake)
    last_year = max(year for year, period in zip(full.facts.fiscal_year, full.facts.fiscal_period, strict=True)
                    if period == "FY")  # fmt: skip
    fiscal_year = rng.randint(first_year, last_year)
    filed = full.row("NetIncome", fiscal_year, version="original").known_on[0]
    return Book(company, filed + timedelta(days=rng.randint(1, 240)), lake), fiscal_year
