"""What each report states: figures of a period with its versions, as rows of XBRL facts."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Sequence
from datetime import date
from functools import lru_cache
from typing import Any, NamedTuple

from lake.fundamentals import LINE_ITEMS
from lake.records import Facts, FilingIndex
from lake.simulated_filers.books import BALANCE, CASH_FLOW, INCOME, TAX_RATE, books
from lake.simulated_filers.directory import LAST_YEAR, Filer, filers
from lake.simulated_filers.schedule import Error, Schedule, schedule, year_of
from lake.simulated_filers.streams import stream

SHARES = ("SharesBasic", "SharesDiluted")
A_SHARE = ("EPSBasic", "EPSDiluted")
_UNITS = {**dict.fromkeys(SHARES, "shares"), **dict.fromkeys(A_SHARE, "USD/shares")}
YEAR_TO_DATE = {"Q1": "Q1", "Q2": "6M", "Q3": "9M", "FY": "FY"}
"""Period of a report -> that of its cash flows, which run from the beginning of the year."""
_PLACES = {"Q1": (0, 1), "Q2": (1, 2), "Q3": (2, 3), "Q4": (3, 4), "6M": (0, 2), "9M": (0, 3), "FY": (0, 4)}
_BALANCE, _CASH_FLOW = frozenset(BALANCE), frozenset(CASH_FLOW)
ALSO = {
    "InterestExpense": "InterestExpense",
    "ShareBasedCompensation": "ShareBasedCompensation",
    "NetBorrowing": "ProceedsFromRepaymentsOfDebt",
    "PropertyPlantAndEquipment": "PropertyPlantAndEquipmentNet",
    "Goodwill": "Goodwill",
    "Payables": "AccountsPayableCurrent",
    "AccruedLiabilities": "AccruedLiabilitiesCurrent",
}
"""Items that are none of ``fundamentals.LINE_ITEMS`` -> their tag."""
NEW_REVENUE_RULE = 2018
"""Fiscal year from which revenue has the tag of the standard of that time."""
# an error in revenue, and what follows from it: the same error, its tax, or what is left
_ERROR = ("Revenue", "GrossProfit", "OperatingIncome", "Receivables", "CurrentAssets", "Assets")
_ERROR_TAX = ("IncomeTax", "AccruedLiabilities", "CurrentLiabilities", "Liabilities")
_ERROR_NET = ("NetIncome", "Equity")


class Stated(NamedTuple):
    """One filing that states a period: as first reported, amended, or repeated beside a later period."""

    filed: date
    form: str
    accession: str
    with_error: bool


def quarters_of(filer: Filer, year: int, period: str) -> slice:
    """Return the places in the books of a quarter, of a year, or of a year to date."""
    first = 4 * (year - filer.first_year)
    begin, end = _PLACES[period]
    return slice(first + begin, first + end)


def error_of(filer: Filer, error: Error) -> float:
    """Return the dollars by which an error overstated revenue."""
    revenue = sum(books(filer.ticker)["Revenue"][quarters_of(filer, error.year, error.period)])
    return float(round(error.share * revenue / filer.unit) * filer.unit)


def stated_value(filer: Filer, item: str, year: int, period: str, *, error: float = 0.0) -> float:
    """Return an item in dollars as it was stated with an error in revenue (0: as it is)."""
    return _stated(filer, item, books(filer.ticker)[item][quarters_of(filer, year, period)], error)


def _stated(filer: Filer, item: str, quarters: Sequence[float], error: float) -> float:
    value = quarters[-1] if item in _BALANCE else sum(quarters)
    if not error:
        return value
    tax = round(error * TAX_RATE / filer.unit) * filer.unit
    part = error if item in _ERROR else tax if item in _ERROR_TAX else error - tax if item in _ERROR_NET else 0.0
    return value + part


def share_figures(filer: Filer, year: int, period: str, *, factor: int, error: float = 0.0) -> dict[str, float]:
    """Return average share counts and earnings a share, in shares of which there are ``factor`` for one at first."""
    shares = books(filer.ticker)["Shares"][quarters_of(filer, year, period)]
    basic = float(round(sum(shares) / len(shares)) * factor)
    diluted = float(round(basic * (1.0 + _dilution(filer.ticker))))
    income = stated_value(filer, "NetIncome", year, period, error=error)
    if income < 0:
        # options would make the loss a share smaller
        diluted = basic
    return {
        "SharesBasic": basic,
        "SharesDiluted": diluted,
        "EPSBasic": _cents(income / basic),
        "EPSDiluted": _cents(income / diluted),
    }


def _cents(value: float) -> float:
    return math.floor(100.0 * value + 0.5) / 100.0


def versions(dates: Schedule, place: int) -> list[Stated]:
    """Return the filings that state the period of report number ``place``, in the order of time."""
    report = dates.reports[place]
    error = next((each for each in dates.errors if (each.year, each.period) == (report.year, report.period)), None)
    found = [Stated(report.filed, report.form, report.accession, error is not None)]
    if error is not None:
        found.append(Stated(error.filed, error.form, error.accession, False))
    for later in (place + 4, place + 8) if report.period == "FY" else (place + 4,):
        if later < len(dates.reports):
            repeated = dates.reports[later]
            found.append(Stated(repeated.filed, repeated.form, repeated.accession, False))
    return sorted(found)


def tag_of(filer: Filer, item: str, year: int) -> str:
    """Return the us-gaap tag under which a filer states an item."""
    if item in ALSO:
        return ALSO[item]
    if item == "Revenue" and year >= NEW_REVENUE_RULE:
        return LINE_ITEMS[item][0]
    return _habits(filer.ticker)[item]


@lru_cache(maxsize=1024)
def _habits(ticker: str) -> dict[str, str]:
    """Return the tag that a filer uses for each line item; of revenue, the one it used at first."""
    rng = stream(ticker, "tags")
    return {item: rng.choice(tags[1:] if item == "Revenue" else tags) for item, tags in LINE_ITEMS.items()}


@lru_cache(maxsize=1024)
def _dilution(ticker: str) -> float:
    return 0.005 + 0.02 * stream(ticker, "dilution").random()


def items_of(filer: Filer) -> list[str]:
    """Return the items that a filer reports: none that it never had."""
    kept = books(filer.ticker)
    optional = ("ResearchAndDevelopment", "Dividends", "ShareRepurchases")
    stated = [item for item in (*INCOME, *BALANCE, *CASH_FLOW) if item not in optional or any(kept[item])]
    return [*stated, *SHARES, *A_SHARE]


def facts(ticker: str) -> Facts:
    """Return everything that a filer states; a later filing appears where it states another value."""
    filer, dates = filers()[ticker], schedule(ticker)
    items = items_of(filer)
    rows: list[tuple[Any, ...]] = []
    for place in range(len(dates.reports)):
        rows += _rows(filer, dates, place, items)
    return Facts.of(rows)


def facts_of_year(ticker: str, tags: Collection[str], year: int) -> Facts:
    """Return what a filer states of one fiscal year under some tags, without making the rest."""
    filer = filers()[ticker]
    items = [item for item in items_of(filer) if tag_of(filer, item, year) in tags]
    if not items or not filer.first_year <= year <= LAST_YEAR:
        return Facts.of([])
    a_share = any(item in SHARES or item in A_SHARE for item in items)
    # splits of any year change figures a share; dollars need this year's filings alone
    dates = schedule(ticker) if a_share else year_of(ticker, year)
    places = [place for place, report in enumerate(dates.reports) if report.year == year]
    return Facts.of([row for place in places for row in _rows(filer, dates, place, items)])


def _rows(filer: Filer, dates: Schedule, place: int, items: Collection[str]) -> Iterator[tuple[Any, ...]]:
    report = dates.reports[place]
    errors = [
        error_of(filer, each) for each in dates.errors if (each.year, each.period) == (report.year, report.period)
    ]
    dollars = {item: tag_of(filer, item, report.year) for item in items if item not in _UNITS}
    a_share = {item: tag_of(filer, item, report.year) for item in items if item in _UNITS}
    to_date = YEAR_TO_DATE[report.period], filer.calendar.quarter(report.year, 1)[0]
    kept, told = books(filer.ticker), dict[str, float]()
    places = {period: quarters_of(filer, report.year, period) for period in (report.period, to_date[0])}
    for number, stated in enumerate(versions(dates, place)):
        error = errors[0] if stated.with_error else 0.0
        if errors or not number:
            for item, tag in dollars.items():
                start: date | None
                period, start = to_date if item in _CASH_FLOW else (report.period, report.start)
                start = None if item in _BALANCE else start
                value = _stated(filer, item, kept[item][places[period]], error)
                if told.get(item) != value:
                    told[item] = value
                    yield (
                        stated.filed, tag, report.year, period, start, report.end, value, "USD", stated.form,
                        stated.accession,
                    )  # fmt: skip
        if a_share:
            factor = dates.factor(stated.filed)
            figures = share_figures(filer, report.year, report.period, factor=factor, error=error)
            for item, tag in a_share.items():
                if told.get(item) != figures[item]:
                    told[item] = figures[item]
                    yield (
                        stated.filed, tag, report.year, report.period, report.start, report.end, figures[item],
                        _UNITS[item], stated.form, stated.accession,
                    )  # fmt: skip


def filings(ticker: str) -> FilingIndex:
    """Return the list of a filer's reports, amendments and announcements."""
    dates = schedule(ticker)
    rows: list[tuple[Any, ...]] = []
    for report in dates.reports:
        told = report.announced.date()
        rows.append((told, report.announced, "8-K", report.announcement, report.end, "2.02", "release.htm", "8-K"))
        rows.append(
            (report.filed, report.accepted, report.form, report.accession, report.end, "", "report.htm", report.form)
        )
    ends = {(report.year, report.period): report.end for report in dates.reports}
    for error in dates.errors:
        end = ends[error.year, error.period]
        rows.append((error.filed, error.accepted, error.form, error.accession, end, "", "amendment.htm", error.form))
    return FilingIndex.of(sorted(rows, key=lambda row: (row[0], row[1], row[3])))
