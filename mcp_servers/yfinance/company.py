"""What Yahoo shows of a company besides prices, and macro series, as known on the simulation date."""

from __future__ import annotations

import datetime as dt
from typing import Annotated, Literal

from pydantic import BaseModel, Field

from lake import adjusting, rates
from lake.point_in_time import UnknownKey
from lake.sample import Lake
from mcp_servers import caller

Ticker = Annotated[str, Field(description="Ticker symbol, for example AAPL")]
Limit = Annotated[int, Field(description="Number of entries, the latest", ge=1, le=200)]
Frequency = Literal["annual", "quarterly"]


class ActionColumns(BaseModel):
    """Columns; one entry an action, the latest first."""

    ticker: str
    as_of: dt.date
    date: list[dt.date] = Field(description="Ex-date")
    kind: list[str] = Field(description="split or dividend")
    value: list[float] = Field(description="split: shares that one share becomes; dividend: USD a share, as paid then")


class EarningsColumns(BaseModel):
    """Columns; one entry an announcement, the latest first."""

    ticker: str
    as_of: dt.date
    announced: list[dt.datetime] = Field(description="Time of the announcement, or when it is expected")
    eps_estimate: list[float | None] = Field(description="USD a share")
    eps_reported: list[float | None] = Field(description="USD a share; null while it is only expected")
    known_on: list[dt.date] = Field(description="Day from which this entry was known")


class EstimateColumns(BaseModel):
    """Columns; one entry a measure and period, of the last reading before the end of the simulation date."""

    ticker: str
    as_of: dt.date
    read_on: dt.date = Field(description="Day of the reading")
    measure: list[str] = Field(description="eps in USD a share, revenue in USD")
    period: list[str] = Field(description="0q, +1q: this and the next quarter; 0y, +1y: this and the next fiscal year")
    average: list[float | None] = Field(description="USD a share, or USD")
    low: list[float | None] = Field(description="USD a share, or USD")
    high: list[float | None] = Field(description="USD a share, or USD")
    year_ago: list[float | None] = Field(description="Reported a year before, USD a share, or USD")
    analysts: list[int | None] = Field(description="Number of analysts")


class FinancialColumns(BaseModel):
    """Columns; one entry a line and period, the latest period first."""

    ticker: str
    as_of: dt.date
    statement: str
    frequency: str
    period_end: list[dt.date]
    line_item: list[str]
    value: list[float] = Field(description="USD, or USD a share, never scaled")
    known_on: list[dt.date] = Field(description="Day on which the value was read; EDGAR tells when it was published")


class NewsColumns(BaseModel):
    """Columns; one entry a headline, the latest first."""

    ticker: str
    as_of: dt.date
    published: list[dt.datetime]
    title: list[str]
    publisher: list[str]
    summary: list[str]


class Series(BaseModel):
    """Columns; one entry an observation, ascending."""

    series: str
    as_of: dt.date
    unit: str
    day: list[dt.date] = Field(description="Day that the value is of")
    value: list[float] = Field(description="In `unit`")
    known_on: list[dt.date] = Field(description="Day on which it was published")
    source: str


class CompanyTools:
    """The tools, over one lake."""

    def __init__(self, lake: Lake) -> None:
        self._lake = lake

    def get_actions(self, ticker: Ticker, limit: Limit = 50) -> ActionColumns:
        """Return the splits and dividends of a ticker up to the simulation date, the latest first.

        A dividend is USD a share as paid then; a split is the number of shares that one share becomes. For example
        `{"ticker": "AAPL"}`.
        """
        today, name = caller.as_of(), ticker.upper()
        splits = adjusting.splits_known(self._lake, name, as_of=today)
        rows = [(split.day, "split", split.ratio) for split in splits]
        try:
            known = self._lake.actions.known(name, as_of=today)
        except UnknownKey:
            # a share of the embedded sample has its splits, and no dividends
            if name not in self._lake.tickers(as_of=today):
                raise
        else:
            columns = zip(known.known_on, known.kind, known.value, strict=True)
            rows += [row for row in columns if row[1] == "dividend"]
        rows = sorted(rows, reverse=True)[:limit]
        return ActionColumns(
            ticker=name,
            as_of=today,
            date=[day for day, _, _ in rows],
            kind=[kind for _, kind, _ in rows],
            value=[value for _, _, value in rows],
        )

    def get_earnings(self, ticker: Ticker, limit: Limit = 20) -> EarningsColumns:
        """Return earnings announcements: estimate and report of past ones, and expected dates, the latest first.

        Figures are USD a share as the provider shows them, which may be in shares after later splits. For example
        `{"ticker": "AAPL", "limit": 8}`.
        """
        known = self._lake.earnings.known(ticker.upper(), as_of=caller.as_of())
        # what was expected of an announcement gives way to its report, also where the provider was late with it
        reported = sorted(range(len(known)), key=lambda row: known.eps_reported[row] is not None)
        last = {known.announced[row]: row for row in reported}
        rows = [last[day] for day in sorted(last, reverse=True)][:limit]
        return EarningsColumns(
            ticker=ticker.upper(),
            as_of=caller.as_of(),
            announced=[known.announced[row] for row in rows],
            eps_estimate=[known.eps_estimate[row] for row in rows],
            eps_reported=[known.eps_reported[row] for row in rows],
            known_on=[known.known_on[row] for row in rows],
        )

    def get_estimates(self, ticker: Ticker) -> EstimateColumns:
        """Return what analysts expected at the last reading before the end of the simulation date.

        Of this and the next quarter and fiscal year; eps in USD a share, revenue in USD. For example
        `{"ticker": "AAPL"}`.
        """
        known = self._lake.estimates.known(ticker.upper(), as_of=caller.as_of())
        read_on = known.known_on[-1]
        rows = known.take(row for row, day in enumerate(known.known_on) if day == read_on)
        columns = {name: list(column) for name, column in rows.columns() if name != "known_on"}
        return EstimateColumns(ticker=ticker.upper(), as_of=caller.as_of(), read_on=read_on, **columns)

    def get_financials(
        self,
        ticker: Ticker,
        statement: Annotated[Literal["income", "balance", "cash_flow"], Field(description="Which statement")],
        frequency: Annotated[Frequency, Field(description="annual or quarterly")] = "annual",
    ) -> FinancialColumns:
        """Return one statement as Yahoo showed it at the last reading of each line, the latest period first.

        Values are USD, or USD a share, never scaled. Filings by the day of their publication: the EDGAR tools. For
        example `{"ticker": "AAPL", "statement": "income"}`.
        """
        known = self._lake.statements.known(ticker.upper(), as_of=caller.as_of())
        last = {
            (known.period_end[row], known.line_item[row]): row
            for row in range(len(known))
            if known.statement[row] == statement and known.frequency[row] == frequency
        }
        if not last:
            raise ValueError(f"no {frequency} {statement} statement of {ticker.upper()} was known on {caller.as_of()}")
        rows = [last[name] for name in sorted(last, key=lambda name: (-name[0].toordinal(), name[1]))]
        return FinancialColumns(
            ticker=ticker.upper(),
            as_of=caller.as_of(),
            statement=statement,
            frequency=frequency,
            period_end=[known.period_end[row] for row in rows],
            line_item=[known.line_item[row] for row in rows],
            value=[known.value[row] for row in rows],
            known_on=[known.known_on[row] for row in rows],
        )

    def get_news(self, ticker: Ticker, limit: Limit = 20) -> NewsColumns:
        """Return headlines on a ticker that were published by the end of the simulation date, the latest first.

        For example `{"ticker": "AAPL", "limit": 10}`.
        """
        known = self._lake.news.known(ticker.upper(), as_of=caller.as_of())
        rows = sorted(range(len(known)), key=lambda row: known.published[row], reverse=True)[:limit]
        return NewsColumns(
            ticker=ticker.upper(),
            as_of=caller.as_of(),
            published=[known.published[row] for row in rows],
            title=[known.title[row] for row in rows],
            publisher=[known.publisher[row] for row in rows],
            summary=[known.summary[row] for row in rows],
        )

    def get_macro_series(
        self,
        series: Annotated[
            str, Field(description="Name of a series, for example VIX or DTB3; an unknown one lists all")
        ],
        start: Annotated[dt.date | None, Field(description="First day, ISO; default: the first known")] = None,
        end: Annotated[
            dt.date | None, Field(description="Last day, ISO, included; default: the simulation date")
        ] = None,
        limit: Annotated[int, Field(description="Number of observations, the latest", ge=1, le=2000)] = 250,
    ) -> Series:
        """Return an interest rate or another macro series as published by the simulation date.

        The answer names the unit, such as percent a year. For example
        `{"series": "DTB3", "start": "2024-01-01", "end": "2024-06-30"}`.
        """
        last_day = caller.require_known(end, "end") if end else caller.as_of()
        first_day = caller.require_known(start, "start") if start else dt.date.min
        if first_day > last_day:
            raise ValueError(f"start={first_day} must not be after end={last_day}")
        name = series.strip().upper()
        known = self._lake.rates.known(name, as_of=caller.as_of())
        # of a figure that was revised, the last version that was known
        last = {day: row for row, day in enumerate(known.day) if first_day <= day <= last_day}
        rows = [last[day] for day in sorted(last)][-limit:]
        if not rows:
            raise ValueError(f"{name} has no observation between {first_day} and {last_day} that was published")
        return Series(
            series=name,
            as_of=caller.as_of(),
            unit=rates.UNITS.get(name, "as the source publishes it"),
            day=[known.day[row] for row in rows],
            value=[known.value[row] for row in rows],
            known_on=[known.known_on[row] for row in rows],
            source=self._lake.rates.origin,
        )
