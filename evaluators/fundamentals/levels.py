"""Whose figure of when is asked for, by difficulty: told, to be worked out, or to be found first.

Easy: a company with its ticker and a fiscal year with its last day. Hard: a name alone, and a quarter, four quarters
across two fiscal years, a year told by a day in it, or the figures as first reported. Expert: the company is the one of
three that leads in another measure, and the year the one of four in which a third measure was highest or lowest.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from datetime import date, timedelta
from typing import NamedTuple, TypeVar

from evaluators.contract import Difficulty, Json
from evaluators.fundamentals.measures import CRITERIA, Measure, expected
from evaluators.fundamentals.question import Drawn
from evaluators.fundamentals.world import LAST_FILING, Lacking, View, World
from lake.fundamentals import Company, Version

T = TypeVar("T")
CANDIDATES = 3
YEARS = 4
CLEAR = 0.02
"""A leader leads by this fraction, so that no other reading of a figure makes another one lead."""
PERIODS = {
    "Q1": "in the first quarter of fiscal {year}",
    "Q2": "in the second quarter of fiscal {year}",
    "Q3": "in the third quarter of fiscal {year}",
    "Q4": "in the fourth quarter of fiscal {year}",
    "T1": "in the four quarters up to the end of the first quarter of fiscal {year}",
    "T2": "in the four quarters up to the end of the second quarter of fiscal {year}",
    "T3": "in the four quarters up to the end of the third quarter of fiscal {year}",
}
FIRST_REPORTED = "Use the figures as first reported, before any restatement."
FIRST_REPORTED_SHARE = 0.3


class Placed(NamedTuple):
    """A company and period with the words that tell them."""

    view: View
    company: str
    period: str
    inputs: dict[str, Json]


def label(company: Company) -> str:
    """Return name and ticker."""
    return f"{company.name} ({company.ticker})"


def as_known(as_of: date) -> str:
    """Return the sentence that fixes which version of a restated figure is meant."""
    return f"Use the figures as last reported by the simulation date ({as_of})."


def placed(
    rng: random.Random,
    world: World,
    level: Difficulty,
    measure: Measure,
    *,
    simulated: bool = False,
    version: Version | None = None,
) -> Placed:
    """Draw whose figure of when is asked for; ``version`` fixes which of its versions is meant."""
    if level == "expert":
        return _found(rng, world, measure, simulated=simulated, version=version or "latest")
    company = world.any_company(rng, simulated=simulated)
    year, as_of = world.annual(rng, company, history=measure.history + 1)
    book = world.book(company, as_of)
    if level == "easy":
        return Placed(
            View(book, year, "FY", version or "latest"), label(company), year_named(book.year_end(year), year), {}
        )
    first = version is None and rng.random() < FIRST_REPORTED_SHARE
    which: Version = version or ("original" if first else "latest")
    parts = [period for period in measure.periods if period != "FY"]
    if parts:
        period = rng.choice(parts)
        return Placed(View(book, year, period, which), company.name, PERIODS[period].format(year=year), {})
    day = book.year_end(year) - timedelta(days=rng.randint(20, 340))
    return Placed(View(book, year, "FY", which), company.name, f"in the fiscal year under way on {day:%-d %B %Y}", {})


def year_named(end: date, year: int) -> str:
    """Return the words for a fiscal year with its last day, which differs between companies."""
    return f"in fiscal {year} (ended {end:%-d %B %Y})"


def _found(rng: random.Random, world: World, measure: Measure, *, simulated: bool, version: Version) -> Placed:
    """Draw companies of which one leads in a measure, and years of which one does in another."""
    companies = [world.any_company(rng, simulated=simulated) for _ in range(CANDIDATES)]
    if len({company.ticker for company in companies}) < CANDIDATES:
        raise Lacking("a company twice")
    shared = set.intersection(*(set(world.book(company, LAST_FILING).years()) for company in companies))
    usable = [year for year in sorted(shared) if {year - back for back in range(YEARS + measure.history + 1)} <= shared]
    if not usable:
        raise Lacking("no years that all of them have")
    last = rng.choice(usable)
    filed = max(
        world.book(company, LAST_FILING).row("NetIncome", last, version="original").known_on[0] for company in companies
    )
    as_of = filed + timedelta(days=rng.randint(1, 200))
    by, when = rng.sample(sorted(CRITERIA), 2)
    most, greatest = rng.random() < 0.5, rng.random() < 0.5
    judged = last - rng.randrange(YEARS)
    books = [world.book(company, as_of) for company in companies]
    chosen = _leader(books, lambda book: CRITERIA[by].of(View(book, judged, "FY", version)), most=most)
    years = list(range(last - YEARS + 1, last + 1))
    year = _leader(years, lambda each: CRITERIA[when].of(View(chosen, each, "FY", version)), most=greatest)
    names = [company.name for company in companies]
    company = (
        f"whichever of {', '.join(names[:-1])} and {names[-1]} had the {'highest' if most else 'lowest'} {by} in its "
        f"fiscal {judged}"
    )
    which = f"{'highest' if greatest else 'lowest'} {when}"
    period = f"(for the fiscal year, of its {years[0]} to {years[-1]}, with the {which})"
    inputs: dict[str, Json] = {
        "companies": [company.ticker for company in companies],
        "by": by,
        "most": most,
        "judged": judged,
        "when": when,
        "greatest": greatest,
        "years": list(years),
    }
    return Placed(View(chosen, year, "FY", version), company, period, inputs)


def _leader(candidates: Sequence[T], of: Callable[[T], float], *, most: bool) -> T:
    ranked = sorted(candidates, key=of, reverse=most)
    first, second = of(ranked[0]), of(ranked[1])
    if abs(first - second) <= CLEAR * max(abs(first), abs(second)):
        raise Lacking("too close to call")
    return ranked[0]


def drawn(at: Placed, measure: Measure, **more: Json) -> Drawn:
    """Return the draw of a measure at a place, in the figures of its version."""
    view = at.view
    inputs: dict[str, Json] = {
        "year": view.year, "period": view.period, "version": view.version, **at.inputs, **more,
    }  # fmt: skip
    return Drawn(
        at.company,
        at.period,
        FIRST_REPORTED if view.version == "original" else as_known(view.book.as_of),
        expected(measure.of(view), measure.unit),
        view.book.as_of,
        view.book.company.ticker,
        view.year,
        inputs=inputs,
    )
