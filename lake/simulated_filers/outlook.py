"""What is said of a filer besides its reports: analysts' estimates, announced earnings, dividends and splits."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Any

from lake.records import Actions, Earnings, Estimates
from lake.simulated_filers.books import books
from lake.simulated_filers.calendar import business_day
from lake.simulated_filers.directory import Filer, filers
from lake.simulated_filers.schedule import Report, Schedule, schedule
from lake.simulated_filers.statements import error_of, share_figures, stated_value
from lake.simulated_filers.streams import stream

READINGS = ((50, 60), (25, 35), (2, 6))
"""Days before an announcement on which its consensus is read; the last reading is the one that it is held against."""
EX_DAY = 60
"""Days into a quarter on which its dividend goes ex."""


def _reported(filer: Filer, dates: Schedule, report: Report) -> tuple[float, float]:
    """Return diluted earnings a share and revenue of the quarter, as first announced."""
    quarter = "Q4" if report.period == "FY" else report.period
    errors = [
        error_of(filer, each) for each in dates.errors if (each.year, each.period) == (report.year, report.period)
    ]
    error = errors[0] if errors else 0.0
    factor = dates.factor(report.announced.date())
    earned = share_figures(filer, report.year, quarter, factor=factor, error=error)["EPSDiluted"]
    return earned, stated_value(filer, "Revenue", report.year, quarter, error=error)


def _readings(filer: Filer, dates: Schedule, report: Report) -> list[tuple[date, float, float, int]]:
    """Return day, earnings a share, revenue and number of analysts of each reading of the consensus."""
    rng = stream(filer.ticker, report.year, report.period, "consensus")
    earned, revenue = _reported(filer, dates, report)
    # a surprise of nothing could be guessed
    off, off_revenue = (rng.choice((-1, 1)) * rng.uniform(low, high) for low, high in ((0.03, 0.16), (0.012, 0.07)))
    last = max(abs(earned), 0.05)
    analysts = rng.randint(4, 24)
    found = []
    for place, (least, most) in enumerate(READINGS):
        apart = 1.0 + 0.7 * (len(READINGS) - 1 - place) * rng.uniform(-1, 1)
        day = report.announced.date() - timedelta(days=rng.randint(least, most))
        shares = dates.factor(report.announced.date()) / dates.factor(day)
        step = 1e6 if revenue > 3e8 else 1e5
        found.append(
            (
                day,
                round((earned + last * off * apart) * shares, 2),
                round(revenue * (1.0 + off_revenue * apart) / step) * step,
                analysts,
            )
        )
    return found


def estimates(ticker: str) -> Estimates:
    """Return the readings of the consensus of every quarter, before its announcement."""
    filer, dates = filers()[ticker], schedule(ticker)
    rows: list[tuple[Any, ...]] = []
    for place, report in enumerate(dates.reports):
        before = _reported(filer, dates, dates.reports[place - 4]) if place >= 4 else (None, None)
        for day, earned, revenue, analysts in _readings(filer, dates, report):
            ago = before[0]
            if ago is not None:
                ago = round(ago * dates.factor(dates.reports[place - 4].announced.date()) / dates.factor(day), 2)
            apart = 0.04 + 0.01 * (analysts % 5)
            low, high = round(earned - apart * abs(earned) - 0.01, 2), round(earned + apart * abs(earned) + 0.01, 2)
            rows.append((day, "eps", "0q", earned, low, high, ago, analysts))
            rows.append(
                (
                    day,
                    "revenue",
                    "0q",
                    revenue,
                    revenue * (1 - apart / 2),
                    revenue * (1 + apart / 2),
                    before[1],
                    analysts,
                )
            )
    return Estimates.of(rows)


def earnings(ticker: str) -> Earnings:
    """Return every announcement with the last consensus before it, known from its day."""
    filer, dates = filers()[ticker], schedule(ticker)
    rows = []
    for report in dates.reports:
        consensus = _readings(filer, dates, report)[-1][1]
        rows.append((report.announced.date(), report.announced, consensus, _reported(filer, dates, report)[0]))
    return Earnings.of(rows)


def actions(ticker: str) -> Actions:
    """Return dividends and splits by their ex-day."""
    filer, dates = filers()[ticker], schedule(ticker)
    rows: list[tuple[Any, ...]] = [(split.day, "split", float(split.ratio)) for split in dates.splits]
    for year in range(filer.first_year, dates.reports[-1].year + 1):
        for quarter in range(1, 5):
            day = business_day(filer.calendar.quarter(year, quarter)[0] + timedelta(days=EX_DAY))
            paid = books(ticker)["DividendAShare"][4 * (year - filer.first_year) + quarter - 1]
            if paid:
                rows.append((day, "dividend", round(paid / dates.factor(day), 6)))
    return Actions.of(rows)
