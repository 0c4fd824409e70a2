"""The last snapshot of a ticker's listed options that was known on a day."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from typing import TYPE_CHECKING

import numpy as np

from lake.clock import NEW_YORK, day_in
from lake.point_in_time import UnknownKey
from lake.records import OptionQuotes
from lake.sample import Lake

if TYPE_CHECKING:
    from pricing.chain import Quotes

FRESH_DAYS = 7
EUROPEAN = frozenset({"SPX", "SPXW", "XSP", "NDX", "XND", "RUT", "MRUT", "DJX", "VIX", "XEO"})
"""Cash-settled indexes whose options are exercised at expiry only; those on shares and funds at any time."""


@dataclass(frozen=True)
class Snapshot:
    """Quotes that were read at one moment.

    Attributes
    ----------
    day
        Day of the quotes in New York; times to expiry count from here.
    spot
        Price of the underlying with the quotes, USD.
    spot_origin
        Where that is from.
    rows
        The quotes, of expirations after ``day``.
    """

    ticker: str
    read_at: datetime
    day: date
    spot: float
    spot_origin: str
    origin: str
    rows: OptionQuotes

    @property
    def is_american(self) -> bool:
        """Whether the options may be exercised early."""
        return self.ticker.lstrip("^") not in EUROPEAN

    @property
    def expirations(self) -> tuple[date, ...]:
        """Listed expirations, ascending."""
        return tuple(sorted(set(self.rows.expiration)))

    def years_to(self, expiration: date) -> float:
        """Calendar days from the quotes to an expiration, over 365."""
        return (expiration - self.day).days / 365

    def two_sided(self) -> list[int]:
        """Return the rows with a bid and an ask that is not below it."""
        pairs = enumerate(zip(self.rows.bid, self.rows.ask, strict=True))
        return [row for row, (bid, ask) in pairs if bid is not None and ask is not None and 0.0 < bid <= ask]

    def quotes(self, rows: list[int]) -> Quotes:
        """Return these rows, which are two-sided, as a chain of ``pricing``, in their order there."""
        from pricing import chain

        return chain.build(
            strike=np.array([self.rows.strike[row] for row in rows]),
            time_to_expiry=np.array([self.years_to(self.rows.expiration[row]) for row in rows]),
            is_call=np.array([self.rows.option_type[row] == "call" for row in rows]),
            bid=np.array([self.rows.bid[row] for row in rows], float),
            ask=np.array([self.rows.ask[row] for row in rows], float),
        )


def is_quoted(lake: Lake, ticker: str, *, as_of: date) -> bool:
    """Return whether any quote of the ticker's options was known."""
    try:
        lake.option_quotes.known(ticker, as_of=as_of)
    except UnknownKey:
        return False
    return True


def last(lake: Lake, ticker: str, *, as_of: date) -> Snapshot:
    """Return the last snapshot known on ``as_of``, without the options that had expired by then.

    Raises
    ------
    UnknownKey
        None was known.
    ValueError
        It is more than a week old, everything in it has expired, or the price of the underlying is not known.
    """
    table = lake.option_quotes.known(ticker, as_of=as_of)
    snapshot = of_rows(lake, ticker, table.take(_last_rows(table)))
    if (as_of - snapshot.day).days > FRESH_DAYS:
        raise ValueError(
            f"options on {ticker} were last quoted on {snapshot.day}, more than {FRESH_DAYS} days before {as_of}; "
            "a later snapshot is not in the lake"
        )
    alive = [row for row, day in enumerate(snapshot.rows.expiration) if day > max(as_of, snapshot.day)]
    if not alive:
        raise ValueError(f"every option on {ticker} quoted on {snapshot.day} had expired by {as_of}")
    return replace(snapshot, rows=snapshot.rows.take(alive))


def of_rows(lake: Lake, ticker: str, rows: OptionQuotes) -> Snapshot:
    """Return quotes of one moment as a snapshot, with the price of the underlying in it or its close of that day."""
    day = day_in(NEW_YORK, rows.read_at[0])
    spot, origin = _spot(lake, ticker, rows, day)
    return Snapshot(
        ticker=ticker,
        read_at=rows.read_at[0],
        day=day,
        spot=spot,
        spot_origin=origin,
        origin=lake.option_quotes.origin,
        rows=rows,
    )


def in_the_year_before(table: OptionQuotes, day: date) -> list[list[int]]:
    """Return the rows of the last snapshot of each day in the year up to ``day``, the oldest first."""
    by_moment: dict[datetime, list[int]] = {}
    first = bisect_left(table.known_on, day - timedelta(days=365))
    for row in range(first, len(table)):
        by_moment.setdefault(table.read_at[row], []).append(row)
    by_day = {day_in(NEW_YORK, moment): rows for moment, rows in sorted(by_moment.items())}
    return list(by_day.values())


def _last_rows(table: OptionQuotes) -> list[int]:
    newest = max(table.read_at)
    return [row for row, moment in enumerate(table.read_at) if moment == newest]


def _spot(lake: Lake, ticker: str, rows: OptionQuotes, day: date) -> tuple[float, str]:
    told = sorted(spot for spot in rows.spot if spot is not None and spot > 0.0)
    if told:
        return told[len(told) // 2], "with the quotes"
    try:
        bars, origin = lake.bars_of(ticker, as_of=day)
    except UnknownKey:
        bars = None
    if bars is None or bars.known_on[-1] != day:
        raise ValueError(f"the quotes of {ticker} of {day} hold no price of the underlying, and no close of that day")
    return bars.close[-1], f"close of {day}; {origin}"
