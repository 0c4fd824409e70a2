"""From the SEC's ``companyfacts`` JSON to facts: each figure when first filed, and again when restated."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import date
from typing import Any, TypeAlias

from lake.fundamentals import LINE_ITEMS
from lake.records import Facts

Label: TypeAlias = Callable[[Mapping[str, Any], date | None, date], tuple[int, str] | None]

FORMS = ("10-K", "10-K/A", "10-Q", "10-Q/A", "8-K", "20-F", "20-F/A", "40-F")
YEAR_DAYS = range(341, 380)
QUARTER_DAYS = range(81, 101)
PERIODS = {0: "FY", 3: "Q1", 6: "Q2", 9: "Q3"}
"""Months after the end of the last fiscal year -> fiscal period."""
YEAR_TO_DATE = {6: ("6M", range(172, 194)), 9: ("9M", range(262, 287))}
"""Months after the end of the last fiscal year -> period from its beginning, and the days that it may have."""
DRIFT_DAYS = 10
"""A 52-week calendar may end a period this many days into the next month."""


def fiscal_label(start: date | None, end: date, fiscal_year_end_month: int) -> tuple[int, str] | None:
    """Return fiscal year and period of a figure, or None when it is neither of a year, nor of a quarter, nor a balance.

    Parameters
    ----------
    start
        First day of the period; None for a balance at ``end``.
    fiscal_year_end_month
        1 to 12. The fiscal year is named after the calendar year in which it ends.
    """
    month = end.year * 12 + end.month - 1 - (1 if end.day <= DRIFT_DAYS else 0)
    months_after = (month + 1 - fiscal_year_end_month) % 12
    period = PERIODS.get(months_after)
    if period is None:
        return None
    if start is not None and (end - start).days not in (YEAR_DAYS if period == "FY" else QUARTER_DAYS):
        return None
    return (month + (12 - months_after) % 12) // 12, period


def any_label(start: date | None, end: date, fiscal_year_end_month: int) -> tuple[int, str] | None:
    """Return fiscal year and period as :func:`fiscal_label` does, of ``6M``, ``9M`` and a filed ``Q4`` as well.

    Years of 53 weeks and quarters of 14 are within the days allowed for.
    """
    label = fiscal_label(start, end, fiscal_year_end_month)
    if label is not None or start is None:
        return label
    year_and_period = fiscal_label(None, end, fiscal_year_end_month)
    if year_and_period is None:
        return None
    year, period = year_and_period
    days = (end - start).days
    if period == "FY":
        return (year, "Q4") if days in QUARTER_DAYS else None
    name, allowed = YEAR_TO_DATE.get({"Q1": 3, "Q2": 6, "Q3": 9}[period], ("", range(0)))
    return (year, name) if days in allowed else None


def read_all(
    document: Mapping[str, Any], *, fiscal_year_end_month: int, public: Mapping[str, date] | None = None
) -> Facts:
    """Return the facts of a company, of every tag of us-gaap and dei, year-to-date periods included.

    Parameters
    ----------
    document
        As :func:`read` takes it.
    public
        By accession number the day on which a filing became public, where it differs from the ``filed`` of a figure.
    """

    def of_period(figure: Mapping[str, Any], start: date | None, end: date) -> tuple[int, str] | None:
        return any_label(start, end, fiscal_year_end_month)

    rows: list[tuple[Any, ...]] = []
    for taxonomy, label_of in (("dei", _of_cover), ("us-gaap", of_period)):
        for concept, about in document.get("facts", {}).get(taxonomy, {}).items():
            for unit, figures in about.get("units", {}).items():
                rows += _rows(concept, unit, figures, label_of)
    days = public or {}
    known = [(max(row[0], days.get(row[-1], row[0])), *row[1:]) for row in rows]
    # the SEC's order within a day means nothing, and is not always the same
    return Facts.of(sorted(known, key=lambda row: (row[0], row[1], row[5], row[4] or date.min, row[7], row[-1])))


def _of_cover(figure: Mapping[str, Any], start: date | None, end: date) -> tuple[int, str] | None:
    """Return the fiscal period of the filing: figures of a cover page are of no period's end, but of some day after."""
    year, period = figure.get("fy"), figure.get("fp")
    return (year, str(period)) if isinstance(year, int) and period in PERIODS.values() else None


def read(document: Mapping[str, Any], *, fiscal_year_end_month: int) -> Facts:
    """Return the facts of a company, of the tags in ``LINE_ITEMS``.

    Parameters
    ----------
    document
        The JSON of ``https://data.sec.gov/api/xbrl/companyfacts/CIK##########.json``.
    """

    def of_period(figure: Mapping[str, Any], start: date | None, end: date) -> tuple[int, str] | None:
        return fiscal_label(start, end, fiscal_year_end_month)

    tags = document.get("facts", {}).get("us-gaap", {})
    rows: list[tuple[Any, ...]] = []
    for concept in (tag for item in LINE_ITEMS.values() for tag in item):
        for unit, figures in tags.get(concept, {}).get("units", {}).items():
            rows += _rows(concept, unit, figures, of_period)
    return Facts.of(rows)


def _rows(concept: str, unit: str, figures: Iterable[Mapping[str, Any]], label_of: Label) -> Iterable[tuple[Any, ...]]:
    last: dict[tuple[date | None, date], float] = {}
    for figure in sorted(figures, key=lambda figure: (figure["filed"], figure["accn"])):
        start = date.fromisoformat(figure["start"]) if "start" in figure else None
        end, value = date.fromisoformat(figure["end"]), float(figure["val"])
        label = label_of(figure, start, end)
        if figure["form"] not in FORMS or label is None or last.get((start, end)) == value:
            continue
        last[start, end] = value
        filed = date.fromisoformat(figure["filed"])
        yield (filed, concept, *label, start, end, value, unit, figure["form"], figure["accn"])
