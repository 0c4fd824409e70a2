"""Questions on filings: which one, when, what it said first and what it was restated to."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from datetime import date, timedelta
from functools import lru_cache
from typing import NamedTuple

from evaluators.answers import Tolerance
from evaluators.answers.expected import Expected, ExpectedNumber, ExpectedToken
from evaluators.contract import Difficulty, Json
from evaluators.fundamentals.levels import PERIODS, label, placed
from evaluators.fundamentals.measures import LINES, YEAR, Measure, line
from evaluators.fundamentals.question import Drawn, Template
from evaluators.fundamentals.world import KEPT, LAST_FILING, Book, Lacking, World
from lake import fundamentals
from lake.fundamentals import Company

CATEGORY = "SEC Filing Analysis"
ITEM_WORDS = {
    "Revenue": "revenue",
    "NetIncome": "net income",
    "OperatingIncome": "operating income",
    "GrossProfit": "gross profit",
    "EPSDiluted": "diluted earnings per share",
    "EPSBasic": "basic earnings per share",
    "Assets": "total assets",
    "Equity": "stockholders' equity",
}
MATERIAL = 0.005
"""A restatement is asked about when it moved the figure by more than this fraction."""
FIGURE_TOLERANCE = Tolerance(relative=0.0005, absolute=0.0)
EFFECT_TOLERANCE = Tolerance(relative=0.01, absolute=0.0005)


class Restatement(NamedTuple):
    """A figure that a later filing changed; ``restated_on`` is the filing date of the last change."""

    item: str
    fiscal_year: int
    fiscal_period: str
    filed_on: date
    restated_on: date


@lru_cache(maxsize=KEPT)
def restatements(book: Book) -> tuple[Restatement, ...]:
    """Return the material restatements of a company, in a fixed order."""
    found = []
    for item in ITEM_WORDS:
        rows = book.of_item(item)
        first = fundamentals.select(rows, item, version="original")
        last = fundamentals.select(rows, item, version="latest")
        latest = {key: row for row, key in enumerate(zip(last.fiscal_year, last.fiscal_period, strict=True))}
        for row, (year, period) in enumerate(zip(first.fiscal_year, first.fiscal_period, strict=True)):
            now = latest[year, period]
            moved = abs(last.value[now] - first.value[row]) > MATERIAL * abs(first.value[row])
            if moved and period in ("FY", *PERIODS):
                found.append(Restatement(item, year, period, first.known_on[row], last.known_on[now]))
    return tuple(found)


def _any_restatement(rng: random.Random, world: World, *, splits: bool) -> tuple[Company, Restatement]:
    company = world.any_company(rng)
    book = world.book(company, LAST_FILING)
    # something else has to be known by then, for who is asked to prove an answer
    changes = [each for each in restatements(book) if each.fiscal_year > min(book.years(first=0))]
    # a split halves every figure a share: who is asked by how much could guess
    kept = [each for each in changes if splits or not each.item.startswith("EPS")]
    if not kept:
        raise Lacking(f"{company.ticker} restated nothing material")
    return company, rng.choice(kept)


def _words(book: Book, change: Restatement, level: Difficulty, rng: random.Random) -> tuple[str, str, dict[str, str]]:
    """Return company, period and line in words: named, or told by what can be found."""
    company = label(book.company) if level == "easy" else book.company.name
    year, period = change.fiscal_year, change.fiscal_period
    told = f"for fiscal {year}" if period == "FY" else f"for {period} of fiscal {year}"
    if level == "expert":
        end = book.row(change.item, year, period, "original").period_end[0]
        day = end - timedelta(days=rng.randint(20, 60))
        told = f"for the fiscal {'year' if period == 'FY' else 'quarter'} under way on {day:%-d %B %Y}"
    return company, told, {"line": ITEM_WORDS[change.item]}


def _money(gold: float) -> ExpectedNumber:
    return ExpectedNumber(gold, "currency", FIGURE_TOLERANCE)


def _drawn(
    rng: random.Random, book: Book, change: Restatement, level: Difficulty, expected: Expected, rules: str
) -> Drawn:
    company, period, words = _words(book, change, level, rng)
    inputs: dict[str, Json] = {
        "item": change.item,
        "year": change.fiscal_year,
        "period": change.fiscal_period,
    }
    ticker = book.company.ticker
    return Drawn(company, period, rules, expected, book.as_of, ticker, change.fiscal_year, words, inputs)


def figure_on_date(rng: random.Random, world: World, level: Difficulty) -> Drawn:
    """Ask for a figure that was restated later: which value was known depends on the simulation date."""
    company, change = _any_restatement(rng, world, splits=level == "easy")
    if rng.random() < 0.5:
        days = (change.restated_on - change.filed_on).days
        as_of = change.filed_on + timedelta(days=rng.randint(1, max(1, days - 1)))
    else:
        as_of = change.restated_on + timedelta(days=rng.randint(1, 300))
    book = world.book(company, as_of)
    gold = book.figure(change.item, change.fiscal_year, change.fiscal_period)
    return _drawn(rng, book, change, level, _money(gold), f"What counts is what had been reported by {as_of}.")


def original_figure(rng: random.Random, world: World, level: Difficulty) -> Drawn:
    """Ask for the figure as first filed, asked after it was restated."""
    company, change = _any_restatement(rng, world, splits=level == "easy")
    book = world.book(company, change.restated_on + timedelta(days=rng.randint(1, 300)))
    gold = book.figure(change.item, change.fiscal_year, change.fiscal_period, "original")
    return _drawn(rng, book, change, level, _money(gold), "Later restatements and share splits are left aside.")


def restatement_effect(rng: random.Random, world: World, level: Difficulty) -> Drawn:
    """Ask by how much a later filing changed a figure."""
    company, change = _any_restatement(rng, world, splits=False)
    book = world.book(company, change.restated_on + timedelta(days=rng.randint(1, 300)))
    latest = book.figure(change.item, change.fiscal_year, change.fiscal_period)
    original = book.figure(change.item, change.fiscal_year, change.fiscal_period, "original")
    if original <= 0:
        raise Lacking("a percentage of a loss")
    expected = ExpectedNumber(latest / original - 1, "percent", EFFECT_TOLERANCE)
    rules = f"Take what was last reported by {book.as_of} over what was first reported, less one."
    return _drawn(rng, book, change, level, expected, rules)


def _first_filing(column: str) -> Callable[[random.Random, World, Difficulty], Drawn]:
    def draw(rng: random.Random, world: World, level: Difficulty) -> Drawn:
        item = rng.choice(sorted(LINES))
        measure: Measure = line(item)._replace(periods=YEAR if level == "easy" else ("FY", "Q1", "Q2", "Q3"))
        income = ("Revenue", "GrossProfit", "OperatingIncome", "NetIncome")
        at = placed(rng, world, level, measure, version="original")
        if at.view.period != "FY" and item not in income:
            # cash flows are filed from the beginning of the year
            raise Lacking("a quarter that is not filed")
        row = at.view.book.row(item, at.view.year, at.view.period, "original")
        gold = row.accession[0] if column == "accession" else row.known_on[0].isoformat()
        inputs: dict[str, Json] = {"item": item, "year": at.view.year, "period": at.view.period, **at.inputs}
        # a release on form 8-K gives some figures before the report does
        rules = "Releases on form 8-K do not count."
        if level == "expert":
            rules += " Choose company and year by the figures as first reported."
        found = Drawn(
            at.company,
            at.period,
            rules,
            ExpectedToken(gold, "accession number" if column == "accession" else "date"),
            at.view.book.as_of,
            at.view.book.company.ticker,
            at.view.year,
            inputs=inputs,
        )
        return replace(found, words={"line": LINES[item]})

    return draw


TEMPLATES = (
    Template(
        "figure-on-date", CATEGORY, figure_on_date,
        ("the {line} last reported by the simulation date", "the figure of {line} that was in force"),
        ("the amount of {line} that the newest filing until then gave",),
    ),
    Template(
        "original-figure", CATEGORY, original_figure,
        ("the {line} as it was first reported", "the figure of {line} in the filing that carried it first"),
        ("the amount of {line} that was given before anything was corrected",),
    ),
    Template(
        "restatement-effect", CATEGORY, restatement_effect,
        ("the percentage by which the {line} was restated", "the change, in percent, that restatement made to {line}"),
        ("the relative correction, negative for a cut, that later filings made to {line}",),
    ),
    Template(
        "which-filing", CATEGORY, _first_filing("accession"),
        ("the accession number of the filing that first gave the {line}",
         "the accession number of the first filing with the {line}"),
        ("the number that EDGAR gave the first report of the {line}",),
    ),
    Template(
        "filing-date", CATEGORY, _first_filing("filed"),
        ("the date of the filing that first gave the {line}", "the day on which the {line} was first filed,"),
        ("the date of the first report of the {line}",),
    ),
)  # fmt: skip
