"""Questions on results against the consensus that was published before them; it stands in the lake alone."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import NamedTuple

from evaluators.answers import Tolerance
from evaluators.answers.expected import ExpectedNumber
from evaluators.contract import Difficulty, Json
from evaluators.fundamentals.levels import label
from evaluators.fundamentals.question import Drawn, Template
from evaluators.fundamentals.world import FIRST_YEAR, LAST_YEAR, Lacking, World
from lake.fundamentals import Company
from lake.simulated_filers.schedule import Report, schedule

CATEGORY = "Beat or Miss"
TOLERANCE = Tolerance(relative=0.01, absolute=0.001)
SERVERS = ("edgar", "yfinance")
MEAN_OF = 4
"""Announcements over which the mean is taken at expert level."""


class Surprise(NamedTuple):
    """What was expected and reported of one quarter."""

    consensus: float
    reported: float

    @property
    def share(self) -> float:
        """Report over consensus, less one; a consensus near nothing has none."""
        if self.consensus < 0.1:
            raise Lacking("hardly anything was expected")
        return self.reported / self.consensus - 1


def _quarter(rng: random.Random, world: World) -> tuple[Company, int, Sequence[Report]]:
    """Draw a simulated company and the place of one of its reports."""
    company = world.any_company(rng, simulated=True)
    reports = schedule(company.ticker).reports
    places = [place for place, report in enumerate(reports) if FIRST_YEAR <= report.year <= LAST_YEAR and place >= 8]
    usable = [place for place in places if reports[place].filed.year <= LAST_YEAR]
    return company, rng.choice(usable), reports


def _named(report: Report) -> str:
    number = 4 if report.period == "FY" else int(report.period[1])
    return f"the {('first', 'second', 'third', 'fourth')[number - 1]} quarter of fiscal {report.year}"


def _earnings(world: World, company: Company, reports: Sequence[Report], place: int) -> Surprise:
    """Return consensus and report of earnings a share, as known when the report had been filed."""
    known = world.lake.earnings.known(company.ticker, as_of=reports[place].filed)
    row = known.announced.index(reports[place].announced)
    consensus, reported = known.eps_estimate[row], known.eps_reported[row]
    if consensus is None or reported is None:
        raise Lacking("no consensus")
    return Surprise(consensus, reported)


def _drawn(
    level: Difficulty, company: Company, reports: Sequence[Report], place: int, gold: float, period: str, days: int,
    **inputs: Json,
) -> Drawn:  # fmt: skip
    report = reports[place]
    return Drawn(
        label(company) if level == "easy" else company.name,
        period,
        "The consensus is the last one published before the announcement, and the result the one first announced; take "
        "the difference relative to the consensus, negative for a miss.",
        ExpectedNumber(gold, "percent", TOLERANCE),
        report.filed + timedelta(days=days),
        company.ticker,
        report.year,
        inputs={"announced": report.announced.isoformat(), **inputs},
    )


def earnings_surprise(rng: random.Random, world: World, level: Difficulty) -> Drawn:
    """Ask for the surprise of earnings a share: of a quarter, of one told by a day, or the mean of four."""
    company, place, reports = _quarter(rng, world)
    days = rng.randint(1, 60)
    if level == "expert":
        shares = [_earnings(world, company, reports, place - back).share for back in range(MEAN_OF)]
        period = f"on average over the four quarters up to {_named(reports[place])} (the mean of the four percentages)"
        return _drawn(level, company, reports, place, sum(shares) / MEAN_OF, period, days, quarters=MEAN_OF)
    period = f"for {_named(reports[place])}"
    if level == "hard":
        # a fiscal quarter seldom is one of the calendar
        day = reports[place].end - timedelta(days=rng.randint(20, 60))
        period = f"for the fiscal quarter under way on {day:%-d %B %Y}"
    share = _earnings(world, company, reports, place).share
    return _drawn(level, company, reports, place, share, period, days, quarters=1)


def revenue_surprise(rng: random.Random, world: World, level: Difficulty) -> Drawn:
    """Ask for the surprise of revenue; fourth quarters have to be derived, and the first of three readings misleads."""
    company, place, reports = _quarter(rng, world)
    report = reports[place]
    if level == "easy" and report.period == "FY":
        raise Lacking("a fourth quarter is not easy")
    if level == "hard" and report.period != "FY":
        raise Lacking("a quarter that is filed")
    # the next quarter's first consensus replaces this one's
    as_of = report.filed + timedelta(days=rng.randint(0, 3))
    known = world.lake.estimates.known(company.ticker, as_of=as_of)
    rows = [row for row, measure in enumerate(known.measure) if measure == "revenue"]
    consensus = known.average[rows[-1]]
    if consensus is None or known.known_on[rows[-1]] >= report.announced.date():
        raise Lacking("another consensus is shown")
    book = world.book(company, as_of)
    reported = book.figure("Revenue", report.year, "Q4" if report.period == "FY" else report.period, "original")
    share = Surprise(consensus, reported).share
    period = f"for {_named(report)}"
    if level == "expert":
        before = known.year_ago[rows[-1]]
        if before is None or before <= 0:
            raise Lacking("no quarter a year before")
        growth = book.figure("Revenue", report.year - 1, "Q4" if report.period == "FY" else report.period, "original")
        share = (reported - consensus) / (consensus - growth) if consensus != growth else math.inf
        if not 0.05 < abs(share) < 10:
            raise Lacking("hardly any growth was expected")
        period = f"for the last quarter announced by {as_of}"
    found = _drawn(level, company, reports, place, share, period, (as_of - report.filed).days, year=report.year)
    rules = found.rules
    if level == "expert":
        rules = (
            "Take the surprise (first reported less the last consensus before the announcement) relative to the "
            "growth that was expected (that consensus less the revenue first reported for the quarter a year before)."
        )
    return replace(found, rules=rules)


TEMPLATES = (
    Template(
        "earnings-surprise", CATEGORY, earnings_surprise,
        ("the percentage by which diluted earnings per share beat the consensus",
         "the earnings surprise, in percent (diluted earnings per share against the consensus),"),
        ("the relative distance of diluted earnings per share from what analysts had expected",),
        SERVERS,
    ),
    Template(
        "revenue-surprise", CATEGORY, revenue_surprise,
        ("the percentage by which revenue beat the consensus",
         "the revenue surprise, in percent (revenue against the consensus),"),
        ("the relative distance of revenue from what analysts had expected",),
        SERVERS,
    ),
)  # fmt: skip
