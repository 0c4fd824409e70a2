"""When a filer announces and files each quarter, and which share splits and errors lie between."""

from __future__ import annotations

import random
from datetime import date, datetime, timedelta
from functools import lru_cache
from typing import NamedTuple

from lake.clock import NEW_YORK, zone
from lake.simulated_filers.calendar import QUARTERS, business_day
from lake.simulated_filers.directory import LAST_YEAR, Filer, filers
from lake.simulated_filers.streams import stream

ERROR_SHARE = 0.14
"""Share of fiscal years with a report that is restated later."""
ERROR_SIZES = (0.025, 0.07)
"""Of revenue of the period, and of either sign."""
SPLIT_SHARE = 0.05
CUT_OFF = (17, 30)
"""What is accepted later is disseminated on the next business day."""


class Report(NamedTuple):
    """A periodic report and the announcement before it.

    Attributes
    ----------
    period
        ``Q1`` to ``Q3``, or ``FY`` for the annual report.
    announced
        When results were announced, on a form 8-K.
    accepted, filed
        Of the report: the moment in New York, and the day on which it became public.
    """

    year: int
    period: str
    form: str
    start: date
    end: date
    announced: datetime
    announcement: str
    accepted: datetime
    filed: date
    accession: str


class Error(NamedTuple):
    """An overstatement (or understatement) of revenue in a first report, taken back by an amendment.

    Attributes
    ----------
    share
        Of the period's revenue; negative: it was understated.
    """

    year: int
    period: str
    share: float
    form: str
    accepted: datetime
    filed: date
    accession: str


class Split(NamedTuple):
    """Shares that one share becomes, and the day."""

    day: date
    ratio: int


class Schedule(NamedTuple):
    """Everything with a date of one filer, each in the order of time; errors are in force from the start."""

    reports: tuple[Report, ...]
    errors: tuple[Error, ...]
    splits: tuple[Split, ...]

    def factor(self, day: date) -> int:
        """Return how many shares one share of the beginning had become by the end of ``day``."""
        product = 1
        for split in self.splits:
            product *= split.ratio if split.day <= day else 1
        return product


def _accession(filer: Filer, accepted: datetime, number: int) -> str:
    return f"{filer.company.cik}-{accepted.year % 100:02d}-{number:06d}"


def _moment(day: date, hour: int, minute: int) -> datetime:
    return datetime(day.year, day.month, day.day, hour, minute, tzinfo=zone(NEW_YORK))


def public_on(accepted: datetime) -> date:
    """Return the day on which what was accepted in New York became public."""
    day = accepted.date()
    late = (accepted.hour, accepted.minute) > CUT_OFF
    return business_day(day + timedelta(days=1)) if late else day


def first_filed(filer: Filer) -> date:
    """Return the day of the first report."""
    return _reports(filer, filer.first_year, stream(filer.ticker, filer.first_year, "schedule"))[0].filed


@lru_cache(maxsize=16384)
def year_of(ticker: str, year: int) -> Schedule:
    """Return the reports of one fiscal year, and the errors and splits drawn with it."""
    filer, rng = filers()[ticker], stream(ticker, year, "schedule")
    reports = _reports(filer, year, rng)
    errors: tuple[Error, ...] = ()
    splits: tuple[Split, ...] = ()
    if rng.random() < ERROR_SHARE:
        sign, share = rng.uniform(-1, 3), rng.uniform(*ERROR_SIZES)
        errors = (_error(filer, rng.choice(reports), share if sign > 0 else -share, rng.randint(60, 170)),)
    if rng.random() < SPLIT_SHARE and year > filer.first_year + 1:
        day = business_day(rng.choice(reports[:3]).filed + timedelta(days=rng.randint(5, 40)))
        splits = (Split(day, rng.choice((2, 2, 3))),)
    return Schedule(reports, errors, splits)


@lru_cache(maxsize=1024)
def schedule(ticker: str) -> Schedule:
    """Return the schedule of all years of a filer."""
    years = [year_of(ticker, year) for year in range(filers()[ticker].first_year, LAST_YEAR + 1)]
    return Schedule(
        tuple(report for year in years for report in year.reports),
        tuple(error for year in years for error in year.errors),
        tuple(split for year in years for split in year.splits),
    )


def _reports(filer: Filer, year: int, rng: random.Random) -> tuple[Report, ...]:
    return tuple(
        _report(filer, year, place, quarter, rng.random(), rng.random(), rng.random())
        for place, quarter in enumerate(QUARTERS)
    )


def _report(filer: Filer, year: int, place: int, quarter: str, one: float, two: float, three: float) -> Report:
    start, end = filer.calendar.quarter(year, place + 1)
    annual = quarter == "Q4"
    if annual:
        start = filer.calendar.year_end(year - 1) + timedelta(days=1)
    told = business_day(end + timedelta(days=(28 if annual else 20) + int(12 * one)))
    announced = _moment(told, 16 if two < 0.6 else 7, 5)
    filing_day = business_day(told + timedelta(days=(6 if annual else 2) + int((18 if annual else 8) * two)))
    accepted = _moment(filing_day, 8 + int(12 * three), int(59 * one))
    number = year * 20 % 10_000 + place * 3
    return Report(
        year=year,
        period="FY" if annual else quarter,
        form="10-K" if annual else "10-Q",
        start=start,
        end=end,
        announced=announced,
        announcement=_accession(filer, announced, number + 1),
        accepted=accepted,
        filed=public_on(accepted),
        accession=_accession(filer, accepted, number + 2),
    )


def _error(filer: Filer, report: Report, share: float, days: int) -> Error:
    accepted = _moment(business_day(report.accepted.date() + timedelta(days=days)), 16, 40)
    return Error(
        year=report.year,
        period=report.period,
        share=share,
        form=f"{report.form}/A",
        accepted=accepted,
        filed=public_on(accepted),
        accession=_accession(filer, accepted, report.year * 20 % 10_000 + 15),
    )
