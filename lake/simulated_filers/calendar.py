"""Fiscal calendars: years that end with a month, and years of 52 or 53 weeks."""

from __future__ import annotations

import calendar
from dataclasses import dataclass
from datetime import date, timedelta

QUARTERS = ("Q1", "Q2", "Q3", "Q4")
WEEKS_A_QUARTER = 13


@dataclass(frozen=True)
class FiscalCalendar:
    """When a company's fiscal years and quarters end.

    Attributes
    ----------
    month
        In which the fiscal year ends, 1 to 12; the year is named after the calendar year of its end.
    weekday
        The year ends on the last such day of the month (0 is Monday), after 52 or 53 weeks; None: on its last day.
    """

    month: int
    weekday: int | None = None

    def year_end(self, year: int) -> date:
        """Return the last day of a fiscal year."""
        last = _month_end(year, self.month)
        return last if self.weekday is None else last - timedelta(days=(last.weekday() - self.weekday) % 7)

    def quarter(self, year: int, number: int) -> tuple[date, date]:
        """Return the first and the last day of quarter 1 to 4; the fourth holds a 53rd week."""
        before = self.year_end(year - 1)
        ends = [before, *(self._quarter_end(year, before, each) for each in (1, 2, 3)), self.year_end(year)]
        return ends[number - 1] + timedelta(days=1), ends[number]

    def _quarter_end(self, year: int, before: date, number: int) -> date:
        if self.weekday is not None:
            return before + timedelta(weeks=WEEKS_A_QUARTER * number)
        months = year * 12 + self.month - 1 - 3 * (4 - number)
        return _month_end(months // 12, months % 12 + 1)


def _month_end(year: int, month: int) -> date:
    return date(year, month, calendar.monthrange(year, month)[1])


def business_day(day: date) -> date:
    """Return ``day``, or the Monday after a weekend."""
    return day + timedelta(days=max(0, 7 - day.weekday())) if day.weekday() > 4 else day
