"""Questions on filings: which one, when, what it said first and what it was restated to, and against a consensus."""

from __future__ import annotations

import random
from datetime import date, timedelta
from typing import NamedTuple

from evaluators.answers import Tolerance
from evaluators.answers.expected import ExpectedNumber, ExpectedToken
from evaluators.fundamentals.question import (
    LAST_DAY,
    Book,
    NotDrawable,
    Question,
    Template,
    any_annual_book,
    any_company,
)
from lake import fundamentals
from lake.fundamentals import Company
from lake.sample import Lake

ITEM_WORDS = {
    "Revenue": "revenue",
    "NetIncome": "net income",
    "OperatingIncome": "operating income",
    "GrossProfit": "gross profit",
    "EPSDiluted": "diluted earnings per share",
    "EPSBasic": "basic earnings per share",
    "Assets": "total assets",
    "Equity": "stockholders' equity",
    "OperatingCashFlow": "net cash from operating activities",
    "Dividends": "dividends paid",
}
MATERIAL = 0.02
"""A restatement is asked about when it moved the figure by more than this fraction, so that it cannot pass unseen."""

FIGURE_TOLERANCE = Tolerance(relative=0.005, absolute=0.0)
SURPRISE_TOLERANCE = Tolerance(relative=0.01, absolute=0.001)


class Restatement(NamedTuple):
    """A figure that a later filing changed; ``restated_on`` is the filing date of the last change."""

    item: str
    fiscal_year: int
    fiscal_period: str
    filed_on: date
    restated_on: date


def restatements(company: Company, lake: Lake) -> list[Restatement]:
    """Return the material restatements of a company, in a fixed order."""
    facts = lake.facts.known(company.ticker, as_of=LAST_DAY)
    found = []
    for item in ITEM_WORDS:
        first = fundamentals.select(facts, item, version="original")
        last = fundamentals.select(facts, item, version="latest")
        latest = {key: row for row, key in enumerate(zip(last.fiscal_year, last.fiscal_period, strict=True))}
        for row, (year, period) in enumerate(zip(first.fiscal_year, first.fiscal_period, strict=True)):
            now = latest[year, period]
            if abs(last.value[now] - first.value[row]) > MATERIAL * abs(first.value[row]):
                found.append(Restatement(item, year, period, first.known_on[row], last.known_on[now]))
    return found


def _any_restatement(rng: random.Random, lake: Lake) -> tuple[Company, Restatement]:
    company = any_company(rng)
    changes = restatements(company, lake)
    if not changes:
        raise NotDrawable(f"{company.ticker} restated nothing material")
    return company, rng.choice(changes)


def _period_words(period: str, year: int) -> str:
    return f"fiscal {year}" if period == "FY" else f"{period} of fiscal {year}"


def _money(gold: float) -> ExpectedNumber:
    return ExpectedNumber(gold, "currency", FIGURE_TOLERANCE)


def figure_on_date(rng: random.Random, lake: Lake) -> Question:
    """Ask for a figure that was restated later: which value was known depends on the simulation date."""
    company, change = _any_restatement(rng, lake)
    if rng.random() < 0.5:
        days = (change.restated_on - change.filed_on).days
        as_of = change.filed_on + timedelta(days=rng.randint(1, max(1, days - 1)))
    else:
        as_of = change.restated_on + timedelta(days=rng.randint(1, 300))
    book = Book(company, as_of, lake)
    text = (
        f"What figure had {book.label} last reported by {as_of} for its {ITEM_WORDS[change.item]} for "
        f"{_period_words(change.fiscal_period, change.fiscal_year)}?"
    )
    gold = book.figure(change.item, change.fiscal_year, change.fiscal_period)
    return Question(text, _money(gold), as_of, company.ticker, change.fiscal_year)


def original_figure(rng: random.Random, lake: Lake) -> Question:
    """Ask for the figure as first filed, asked after it was restated."""
    company, change = _any_restatement(rng, lake)
    book = Book(company, change.restated_on + timedelta(days=rng.randint(1, 300)), lake)
    text = (
        f"What did {book.label} originally report as its {ITEM_WORDS[change.item]} for "
        f"{_period_words(change.fiscal_period, change.fiscal_year)}, in the filing that first carried the figure, "
        "before any later restatement or adjustment for share splits?"
    )
    gold = book.figure(change.item, change.fiscal_year, change.fiscal_period, "original")
    return Question(text, _money(gold), book.as_of, company.ticker, change.fiscal_year)


def restatement_effect(rng: random.Random, lake: Lake) -> Question:
    """Ask by how much a later filing changed a figure."""
    company, change = _any_restatement(rng, lake)
    book = Book(company, change.restated_on + timedelta(days=rng.randint(1, 300)), lake)
    latest = book.figure(change.item, change.fiscal_year, change.fiscal_period)
    original = book.figure(change.item, change.fiscal_year, change.fiscal_period, "original")
    text = (
        f"By what percentage does the {ITEM_WORDS[change.item]} of {book.label} for "
        f"{_period_words(change.fiscal_period, change.fiscal_year)}, as last reported by {book.as_of}, differ from the "
        "figure as originally reported? Take the change relative to the original figure, negative for a decrease."
    )
    expected = ExpectedNumber(latest / original - 1, "percent", Tolerance(relative=0.01, absolute=0.002))
    return Question(text, expected, book.as_of, company.ticker, change.fiscal_year)


def _first_filing(rng: random.Random, lake: Lake) -> tuple[Book, int, str]:
    book, year = any_annual_book(rng, lake)
    return book, year, rng.choice(("Revenue", "NetIncome", "OperatingIncome", "OperatingCashFlow"))


def which_filing(rng: random.Random, lake: Lake) -> Question:
    """Ask for the accession number of the filing that first carried a figure."""
    book, year, item = _first_filing(rng, lake)
    gold = book.row(item, year, version="original").accession[0]
    text = (
        f"What is the accession number of the filing in which {book.label} first reported its {ITEM_WORDS[item]} for "
        f"{book.year_named(year)}?"
    )
    return Question(text, ExpectedToken(gold, "accession number"), book.as_of, book.company.ticker, year)


def filing_date(rng: random.Random, lake: Lake) -> Question:
    """Ask for the day on which an annual figure became public with the SEC."""
    book, year, item = _first_filing(rng, lake)
    gold = book.row(item, year, version="original").known_on[0].isoformat()
    text = (
        f"On which date was the filing made in which {book.label} first reported its {ITEM_WORDS[item]} for "
        f"{book.year_named(year)}?"
    )
    return Question(text, ExpectedToken(gold, "date"), book.as_of, book.company.ticker, year)


def _quarter(rng: random.Random, lake: Lake, item: str) -> tuple[Book, int, str]:
    company = any_company(rng)
    facts = fundamentals.select(lake.facts.known(company.ticker, as_of=LAST_DAY), item, version="original")
    rows = [row for row, period in enumerate(facts.fiscal_period) if period != "FY"]
    if not rows:
        raise NotDrawable(f"{company.ticker} {item}: no quarters")
    row = rng.choice(rows)
    book = Book(company, facts.known_on[row] + timedelta(days=rng.randint(1, 60)), lake)
    return book, facts.fiscal_year[row], facts.fiscal_period[row]


def earnings_surprise(rng: random.Random, lake: Lake) -> Question:
    """Ask for reported diluted earnings per share against a stated consensus."""
    book, year, quarter = _quarter(rng, lake, "EPSDiluted")
    actual = book.figure("EPSDiluted", year, quarter, "original")
    consensus = round(actual * (1 + rng.choice((-1, 1)) * rng.uniform(0.03, 0.15)), 2)
    if actual <= 0.2 or consensus == actual:
        raise NotDrawable("too small for a surprise in whole cents")
    text = (
        f"Suppose the consensus for the diluted earnings per share of {book.label} in {_period_words(quarter, year)} "
        f"had been ${consensus:.2f}. By what percentage did the figure that the company originally reported beat "
        "(positive) or miss (negative) this consensus? Take the difference relative to the consensus."
    )
    expected = ExpectedNumber(actual / consensus - 1, "percent", SURPRISE_TOLERANCE)
    return Question(text, expected, book.as_of, book.company.ticker, year)


def revenue_surprise(rng: random.Random, lake: Lake) -> Question:
    """Ask for reported quarterly revenue against a stated consensus."""
    book, year, quarter = _quarter(rng, lake, "Revenue")
    actual = book.figure("Revenue", year, quarter, "original")
    consensus = round(actual * (1 + rng.choice((-1, 1)) * rng.uniform(0.02, 0.10)), -7)
    if consensus <= 0 or abs(actual - consensus) < 0.01 * actual:
        raise NotDrawable("too close for a surprise")
    text = (
        f"Suppose the consensus for the revenue of {book.label} in {_period_words(quarter, year)} had been "
        f"${consensus / 1e9:.2f} billion. By what percentage did the revenue that the company originally reported beat "
        "(positive) or miss (negative) this consensus? Take the difference relative to the consensus."
    )
    expected = ExpectedNumber(actual / consensus - 1, "percent", SURPRISE_TOLERANCE)
    return Question(text, expected, book.as_of, book.company.ticker, year)


TEMPLATES = (
    Template("figure-on-date", "SEC Filing Analysis", figure_on_date),
    Template("original-figure", "SEC Filing Analysis", original_figure),
    Template("restatement-effect", "SEC Filing Analysis", restatement_effect),
    Template("which-filing", "SEC Filing Analysis", which_filing),
    Template("filing-date", "SEC Filing Analysis", filing_date),
    Template("earnings-surprise", "Beat or Miss", earnings_surprise),
    Template("revenue-surprise", "Beat or Miss", revenue_surprise),
)
