"""Daily prices of five US shares, 2000 to March 2013, from the data package of the Bokeh project."""

from __future__ import annotations

from datetime import date

from lake.point_in_time import PointInTime, Source
from lake.records import Bars

TICKERS = ("AAPL", "FB", "GOOG", "IBM", "MSFT")


def _load() -> dict[str, Bars]:
    from bokeh_sampledata import stocks

    tables = {}
    for ticker in TICKERS:
        data = getattr(stocks, ticker)
        days = map(date.fromisoformat, data["date"])
        columns = (data[name] for name in ("open", "high", "low", "close", "volume"))
        tables[ticker] = Bars.of(list(zip(days, *columns, strict=True)))
    return tables


def embedded() -> Source[Bars]:
    """Return the package's bars, unadjusted. Its adjusted close is left out: it knows later splits and dividends."""
    return PointInTime("Quandl WIKI prices (public domain) as packaged by bokeh_sampledata; unadjusted", _load)
