"""Yahoo-style market data (port 8102): quotes, history and statistics up to the simulation date."""

from __future__ import annotations

import datetime as dt
import itertools
import math
from typing import Annotated, Literal

from mcp.server import MCPServer
from pydantic import BaseModel, Field

from lake import adjusting, sample
from lake.records import Bars
from lake.sample import Lake
from lake.splits import Split
from mcp_servers import caller, toolset
from mcp_servers.yfinance.company import CompanyTools
from mcp_servers.yfinance.crypto import CryptoTools

Ticker = Annotated[str, Field(description="Ticker symbol, for example MSFT; list_tickers names them all")]
MAX_BARS = 2000
LISTED = 100
TRADING_DAYS_A_YEAR = 252


class Tickers(BaseModel):
    """Columns; one entry a ticker."""

    as_of: dt.date
    ticker: list[str]
    first_date: list[dt.date]
    last_date: list[dt.date] = Field(description="Last trading day known on the simulation date")
    source: list[str] = Field(description="Origin of the data; simulated markets say so")


class Quote(BaseModel):
    """The last bar known on the date asked for."""

    ticker: str
    as_of: dt.date
    date: dt.date
    days_old: int = Field(description="Calendar days between the bar and the date asked for")
    open: float = Field(description="USD, unadjusted")
    high: float = Field(description="USD, unadjusted")
    low: float = Field(description="USD, unadjusted")
    close: float = Field(description="USD, unadjusted")
    volume: float = Field(description="Shares")
    previous_close: float | None = Field(description="USD, unadjusted")
    change_percent: float | None = Field(description="From the previous close, percent")
    source: str


class History(BaseModel):
    """Columns; one entry a bar, ascending."""

    ticker: str
    as_of: dt.date
    interval: str
    adjusted_for_splits: bool
    date: list[dt.date] = Field(description="Trading day; for weekly and monthly bars the last one in the period")
    open: list[float] = Field(description="USD")
    high: list[float] = Field(description="USD")
    low: list[float] = Field(description="USD")
    close: list[float] = Field(description="USD; never adjusted for dividends")
    volume: list[float] = Field(description="Shares")
    source: str


class Statistics(BaseModel):
    """Figures over the window, from daily closes."""

    ticker: str
    as_of: dt.date
    first_date: dt.date
    last_date: dt.date
    observations: int = Field(description="Number of daily log returns")
    total_return: float = Field(description="Fraction, price only")
    mean_daily_return: float = Field(description="Mean daily log return, fraction")
    annual_volatility: float = Field(
        description="Standard deviation (n-1) of daily log returns times sqrt(252), fraction a year"
    )
    max_drawdown: float = Field(description="Largest fall from a running maximum of the close, positive fraction")
    high: float = Field(description="Highest high, USD")
    low: float = Field(description="Lowest low, USD")
    average_volume: float = Field(description="Shares a day")
    source: str


def _between(bars: Bars, start: dt.date | None, end: dt.date | None) -> Bars:
    days = bars.known_on
    return bars.take(
        row for row, day in enumerate(days) if (start is None or day >= start) and (end is None or day <= end)
    )


def _period(day: dt.date, interval: str) -> tuple[int, int]:
    return day.isocalendar()[:2] if interval == "1wk" else (day.year, day.month)


def _a_year_before(day: dt.date) -> dt.date:
    """Return the day 365 days before, or the first day that the calendar has."""
    return dt.date.fromordinal(max(day.toordinal() - 365, dt.date.min.toordinal()))


def resample(bars: Bars, interval: str) -> Bars:
    """Return weekly (ISO) or monthly bars. The running period ends with the last bar that is known."""
    if interval == "1d":
        return bars
    groups: dict[tuple[int, int], list[int]] = {}
    for row, day in enumerate(bars.known_on):
        groups.setdefault(_period(day, interval), []).append(row)
    return Bars.of([
        (
            bars.known_on[rows[-1]],
            bars.open[rows[0]],
            max(bars.high[row] for row in rows),
            min(bars.low[row] for row in rows),
            bars.close[rows[-1]],
            sum(bars.volume[row] for row in rows),
        )
        for rows in groups.values()
    ])  # fmt: skip


def statistics(bars: Bars) -> dict[str, float]:
    """Return the figures of :class:`Statistics` over at least three bars."""
    closes = bars.close
    returns = [math.log(after / before) for before, after in itertools.pairwise(closes)]
    mean = sum(returns) / len(returns)
    variance = sum((value - mean) ** 2 for value in returns) / (len(returns) - 1)
    peak, drawdown = closes[0], 0.0
    for close in closes:
        peak = max(peak, close)
        drawdown = max(drawdown, 1.0 - close / peak)
    return {
        "total_return": closes[-1] / closes[0] - 1.0,
        "mean_daily_return": mean,
        "annual_volatility": math.sqrt(variance * TRADING_DAYS_A_YEAR),
        "max_drawdown": drawdown,
        "high": max(bars.high),
        "low": min(bars.low),
        "average_volume": sum(bars.volume) / len(bars),
    }


class MarketTools:
    """The tools, over one lake."""

    def __init__(self, lake: Lake) -> None:
        self._lake = lake

    def _known(self, ticker: str) -> tuple[Bars, str]:
        return self._lake.bars_of(ticker.upper(), as_of=caller.as_of())

    def _splits(self, ticker: str) -> tuple[Split, ...]:
        return adjusting.splits_known(self._lake, ticker.upper(), as_of=caller.as_of())

    def list_tickers(
        self,
        query: Annotated[str, Field(description="Beginning of a ticker; empty lists all")] = "",
        offset: Annotated[int, Field(description="How many of them to pass over", ge=0)] = 0,
    ) -> Tickers:
        """List the tickers with prices on the simulation date, real and simulated, at most 100.

        For example `{"query": "A"}`.
        """
        today = caller.as_of()
        names = [name for name in self._lake.tickers(as_of=today) if name.startswith(query.upper())]
        names = names[offset : offset + LISTED]
        found = [self._lake.bars_of(name, as_of=today) for name in names]
        return Tickers(
            as_of=today,
            ticker=names,
            first_date=[bars.known_on[0] for bars, _ in found],
            last_date=[bars.known_on[-1] for bars, _ in found],
            source=[origin for _, origin in found],
        )

    def get_quote(
        self,
        ticker: Ticker,
        date: Annotated[
            dt.date | None, Field(description="Day of the quote, ISO; default: the simulation date")
        ] = None,
    ) -> Quote:
        """Return the last daily bar at the close of a date. Look at `days_old`: a quote may be stale.

        Prices are USD as traded (unadjusted), volumes shares, change_percent percent. For example
        `{"ticker": "MSFT", "date": "2012-06-29"}`.
        """
        day = caller.require_known(date, "date") if date else caller.as_of()
        all_bars, origin = self._known(ticker)
        bars = _between(all_bars, None, day)
        if not len(bars):
            raise ValueError(f"{ticker} has no price on or before {day}; the first is of {all_bars.known_on[0]}")
        previous = bars.close[-2] if len(bars) > 1 else None
        last = {name: column[-1] for name, column in bars.columns()}
        return Quote(
            ticker=ticker.upper(),
            as_of=caller.as_of(),
            date=last.pop("known_on"),
            days_old=(day - bars.known_on[-1]).days,
            previous_close=previous,
            change_percent=None if previous is None else 100.0 * (bars.close[-1] / previous - 1.0),
            source=origin,
            **last,
        )

    def get_price_history(
        self,
        ticker: Ticker,
        start: Annotated[dt.date | None, Field(description="First day, ISO; default: a year before the end")] = None,
        end: Annotated[
            dt.date | None, Field(description="Last day, ISO, included; default: the simulation date")
        ] = None,
        interval: Annotated[Literal["1d", "1wk", "1mo"], Field(description="Bar length")] = "1d",
        adjust_for_splits: Annotated[
            bool, Field(description="Restate prices and volumes in shares of the last day; default: as traded")
        ] = False,
    ) -> History:
        """Return bars between two dates, both included. A date after the simulation date is refused and recorded.

        Prices are USD, never adjusted for dividends; volumes are shares. For example
        `{"ticker": "MSFT", "start": "2012-01-03", "end": "2012-06-29", "interval": "1wk"}`.
        """
        last_day = caller.require_known(end, "end") if end else caller.as_of()
        first_day = caller.require_known(start, "start") if start else _a_year_before(last_day)
        if first_day > last_day:
            raise ValueError(f"start={first_day} must not be after end={last_day}")
        all_bars, origin = self._known(ticker)
        bars = _between(all_bars, first_day, last_day)
        if adjust_for_splits and len(bars):
            bars = adjusting.adjusted(bars, self._splits(ticker))
        bars = resample(bars, interval)
        if not len(bars):
            raise ValueError(
                f"{ticker} has no bar between {first_day} and {last_day}; "
                f"known: {all_bars.known_on[0]} to {all_bars.known_on[-1]}"
            )
        if len(bars) > MAX_BARS:
            raise ValueError(f"{len(bars)} bars are more than the {MAX_BARS} of one answer; narrow the dates")
        columns = {name: list(column) for name, column in bars.columns()}
        return History(
            ticker=ticker.upper(),
            as_of=caller.as_of(),
            interval=interval,
            adjusted_for_splits=adjust_for_splits,
            date=columns.pop("known_on"),
            source=origin,
            **columns,
        )

    def get_statistics(
        self,
        ticker: Ticker,
        start: Annotated[dt.date | None, Field(description="First day, ISO; default: a year before the end")] = None,
        end: Annotated[
            dt.date | None, Field(description="Last day, ISO, included; default: the simulation date")
        ] = None,
    ) -> Statistics:
        """Return return, volatility, drawdown, extremes and volume of daily bars, in shares of the last day.

        Returns, drawdown and volatility (a year) are fractions: 0.01 is 1%. Prices are USD. For example
        `{"ticker": "MSFT", "start": "2012-01-03", "end": "2012-12-31"}`.
        """
        last_day = caller.require_known(end, "end") if end else caller.as_of()
        first_day = caller.require_known(start, "start") if start else _a_year_before(last_day)
        all_bars, origin = self._known(ticker)
        bars = _between(all_bars, first_day, last_day)
        if len(bars) < 3:
            raise ValueError(
                f"{ticker} has {len(bars)} bars between {first_day} and {last_day}, 3 are needed; "
                f"known: {all_bars.known_on[0]} to {all_bars.known_on[-1]}"
            )
        return Statistics(
            ticker=ticker.upper(),
            as_of=caller.as_of(),
            first_date=bars.known_on[0],
            last_date=bars.known_on[-1],
            observations=len(bars) - 1,
            source=origin,
            **statistics(adjusting.adjusted(bars, self._splits(ticker))),
        )


def warm_up() -> None:
    """Read the prices and compute once."""
    tools = MarketTools(sample.embedded())
    with caller.acting_as(caller.standalone_grant(dt.date(2013, 3, 1))):
        tools.list_tickers()
        tools.get_statistics("AAPL")


def build_server(*, lake: Lake | None = None) -> MCPServer:
    """Return the server over ``lake`` (the embedded sample by default)."""
    tools = MarketTools(lake or sample.embedded())
    company = CompanyTools(lake or sample.embedded())
    crypto = CryptoTools(lake or sample.embedded())
    return toolset.build(
        "yfinance",
        title="Yahoo Finance",
        instructions=(
            "Daily market data up to the simulation date: unadjusted prices of real shares (embedded: 2000-2013), and "
            "simulated markets (tickers SIM-...) for other dates. Requests for later dates are refused and recorded."
        ),
        tools=(
            tools.list_tickers,
            tools.get_quote,
            tools.get_price_history,
            tools.get_statistics,
            company.get_actions,
            company.get_earnings,
            company.get_estimates,
            company.get_financials,
            company.get_news,
            company.get_macro_series,
            crypto.get_crypto_candles,
            crypto.get_funding_rates,
            crypto.get_order_book,
        ),
    )
