"""Crypto markets of an exchange: closed candles, funding rates and snapshots of the order book, by UTC days."""

from __future__ import annotations

import datetime as dt
from typing import Annotated, Literal

from pydantic import BaseModel, Field

from lake.sample import Lake
from mcp_servers import caller

Symbol = Annotated[
    str, Field(description="Market as ccxt names it: BTC/USDT spot, BTC/USDT:USDT perpetual; an unknown one lists all")
]
Timeframe = Literal["1m", "5m", "15m", "1h", "2h", "4h", "8h", "1d"]
Start = Annotated[dt.date | None, Field(description="First UTC day, ISO; default: 30 days before the end")]
End = Annotated[dt.date | None, Field(description="Last UTC day, ISO, included; default: the simulation date")]
MAX_ROWS = 2000
USUAL_DAYS = 30


class Candles(BaseModel):
    """Columns; one entry a candle that had closed, ascending."""

    symbol: str
    timeframe: str
    as_of: dt.date
    opened: list[dt.datetime] = Field(description="UTC")
    open: list[float] = Field(description="In the quote currency")
    high: list[float] = Field(description="In the quote currency")
    low: list[float] = Field(description="In the quote currency")
    close: list[float] = Field(description="In the quote currency")
    volume: list[float] = Field(description="In the base currency")
    source: str


class Funding(BaseModel):
    """Columns; one entry a payment, ascending."""

    symbol: str
    as_of: dt.date
    paid: list[dt.datetime] = Field(description="UTC")
    rate: list[float] = Field(description="Fraction of notional that a long pays to a short")
    source: str


class Book(BaseModel):
    """The last snapshot that was read by the end of the simulation date; columns, the best level first."""

    symbol: str
    as_of: dt.date
    read_at: dt.datetime = Field(description="UTC")
    bid: list[float] = Field(description="In the quote currency")
    bid_quantity: list[float] = Field(description="In the base currency")
    ask: list[float] = Field(description="In the quote currency")
    ask_quantity: list[float] = Field(description="In the base currency")
    source: str


def _span(start: dt.date | None, end: dt.date | None) -> tuple[dt.date, dt.date]:
    last = caller.require_known(end, "end") if end else caller.as_of()
    usual = dt.date.fromordinal(max(1, last.toordinal() - USUAL_DAYS))
    first = caller.require_known(start, "start") if start else usual
    if first > last:
        raise ValueError(f"start={first} must not be after end={last}")
    return first, last


class CryptoTools:
    """The tools, over one lake."""

    def __init__(self, lake: Lake) -> None:
        self._lake = lake

    def get_crypto_candles(
        self,
        symbol: Symbol,
        timeframe: Annotated[Timeframe, Field(description="Length of a candle")] = "1h",
        start: Start = None,
        end: End = None,
    ) -> Candles:
        """Return the candles of a crypto market that had closed by the end of the simulation date (UTC).

        Prices are in the quote currency, volumes in the base currency. For example
        `{"symbol": "BTC/USDT", "timeframe": "1h", "start": "2024-01-10", "end": "2024-01-20"}`.
        """
        first, last = _span(start, end)
        source = self._lake.crypto_candles
        known = source.known(f"{symbol.strip().upper()} {timeframe}", as_of=caller.as_of())
        rows = [row for row, moment in enumerate(known.opened) if first <= moment.date() <= last]
        if not rows:
            raise ValueError(
                f"{symbol} has no {timeframe} candle between {first} and {last}; known: {known.opened[0].date()} to "
                f"{known.opened[-1].date()}"
            )
        if len(rows) > MAX_ROWS:
            raise ValueError(f"{len(rows)} candles are more than the {MAX_ROWS} of one answer; narrow the dates")
        columns = {name: list(column) for name, column in known.take(rows).columns() if name != "known_on"}
        return Candles(
            symbol=symbol.strip().upper(), timeframe=timeframe, as_of=caller.as_of(), source=source.origin, **columns
        )

    def get_funding_rates(self, symbol: Symbol, start: Start = None, end: End = None) -> Funding:
        """Return the funding rates of a perpetual future that were paid by the end of the simulation date (UTC).

        A rate is the fraction of notional that a long pays to a short. For example
        `{"symbol": "BTC/USDT:USDT", "start": "2024-01-10"}`.
        """
        first, last = _span(start, end)
        known = self._lake.funding.known(symbol.strip().upper(), as_of=caller.as_of())
        rows = [row for row, moment in enumerate(known.paid) if first <= moment.date() <= last]
        if not rows or len(rows) > MAX_ROWS:
            raise ValueError(
                f"{len(rows)} rates of {symbol} were paid between {first} and {last}, 1 to {MAX_ROWS} fit an answer; "
                f"known: {known.paid[0].date()} to {known.paid[-1].date()}"
            )
        return Funding(
            symbol=symbol.strip().upper(),
            as_of=caller.as_of(),
            paid=[known.paid[row] for row in rows],
            rate=[known.rate[row] for row in rows],
            source=self._lake.funding.origin,
        )

    def get_order_book(
        self, symbol: Symbol, depth: Annotated[int, Field(description="Levels a side", ge=1, le=1000)] = 20
    ) -> Book:
        """Return the last snapshot of an order book that was read by the end of the simulation date (UTC).

        Prices are in the quote currency, quantities in the base currency. For example `{"symbol": "BTC/USDT"}`.
        """
        known = self._lake.order_books.known(symbol.strip().upper(), as_of=caller.as_of())
        read_at = max(known.read_at)
        levels = {
            side: sorted(
                (known.level[row], known.price[row], known.quantity[row])
                for row in range(len(known))
                if known.read_at[row] == read_at and known.side[row] == side
            )[:depth]
            for side in ("bid", "ask")
        }
        return Book(
            symbol=symbol.strip().upper(),
            as_of=caller.as_of(),
            read_at=read_at,
            bid=[price for _, price, _ in levels["bid"]],
            bid_quantity=[quantity for _, _, quantity in levels["bid"]],
            ask=[price for _, price, _ in levels["ask"]],
            ask_quantity=[quantity for _, _, quantity in levels["ask"]],
            source=self._lake.order_books.origin,
        )
