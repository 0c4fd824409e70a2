"""From the SEC's ``companyfacts`` JSON to facts: each figure when first filed, and again when restated."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import date
from typing import Any

from lake.fundamentals import LINE_ITEMS
from lake.records import Facts

FORMS = ("10-K", "10-K/A", "10-Q", "10-Q/A", "8-K", "20-F", "20-F/A", "40-F")
YEAR_DAYS = range(341, 380)
QUARTER_DAYS = range(81, 101)
PERIODS = {0: "FY", 3: "Q1", 6: "Q2", 9: "Q3"}
"""Months after the end of the last fiscal year -> fiscal period."""
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


def read(document: Mapping[str, Any], *, fiscal_year_end_month: int) -> Facts:
    """Return the facts of a company, of the tags in ``LINE_ITEMS``.

    Parameters
    ----------
    document
        The JSON of ``https://data.sec.gov/api/xbrl/companyfacts/CIK##########.json``.
    """
    tags = document.get("facts", {}).get("us-gaap", {})
    rows: list[tuple[Any, ...]] = []
    for concept in (tag for item in LINE_ITEMS.values() for tag in item):
        for unit, figures in tags.get(concept, {}).get("units", {}).items():
            rows += _rows(concept, unit, figures, fiscal_year_end_month)
    return Facts.of(rows)


def _rows(
    concept: str, unit: str, figures: Iterable[Mapping[str, Any]], fiscal_year_end_month: int
) -> Iterable[tuple[Any, ...]]:
    last: dict[tuple[date | None, date], float] = {}
    for figure in sorted(figures, key=lambda figure: (figure["filed"], figure["accn"])):
        start = date.fromisoformat(figure["start"]) if "start" in figure else None
        end, value = date.fromisoformat(figure["end"]), float(figure["val"])
        label = fiscal_label(start, end, fiscal_year_end_month)
        if figure["form"] not in FORMS or label is None or last.get((start, end)) == value:
            continue
        last[start, end] = value
        filed = date.fromisoformat(figure["filed"])
        yield (filed, concept, *label, start, end, value, unit, figure["form"], figure["accn"])
