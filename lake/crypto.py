"""What was pulled from an exchange as sources of the lake: candles, funding rates, snapshots of order books."""

from __future__ import annotations

import threading
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import numpy as np

from lake.candles import exchange
from lake.candles.candles import Floats
from lake.point_in_time import ProviderUnavailable, known_rows, unknown_key
from lake.records import CryptoBars, FundingRates, OrderBooks
from lake.sample import Lake
from lake.settings import LakeSettings
from lake.tables import Table

HINT = "; what was pulled is served: traderbench data pull crypto --exchange EXCHANGE --symbol BTC/USDT --since DATE"
BOOKS = "books"
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_DAY_S = 86_400.0


def books(root: Path, exchange_name: str) -> Table[OrderBooks]:
    """Return the table of order books of an exchange; its keys are symbols."""
    origin = f"order books of {exchange_name} through ccxt, as read"
    return Table(root / exchange_name / BOOKS, OrderBooks, origin=origin, hint=HINT + " --order-book")


def _days(time: Floats) -> list[date]:
    return [date(1970, 1, 1) + timedelta(days=int(day)) for day in time // _DAY_S]


def _moments(time: Floats) -> tuple[datetime, ...]:
    return tuple(_EPOCH + timedelta(seconds=second) for second in time.tolist())


def _end_of(day: date) -> float:
    """Return the last moment of a UTC day, seconds since 1970."""
    return ((day - date(1970, 1, 1)).days + 1) * _DAY_S


class _Folders:
    """The folders of an exchange that a key may name: keys come from agents and never become part of a path."""

    def __init__(self, root: Path, exchange_name: str) -> None:
        self._root = root
        self._exchange = exchange_name
        self._lock = threading.Lock()

    def _found(self, wanted: bool) -> dict[str, tuple[str, str]]:
        """Return by key the symbol and the timeframe: those of candles, or (not ``wanted``) of funding rates."""
        found = {}
        for manifest in sorted((self._root / self._exchange).glob("*/*/manifest.json")):
            timeframe = manifest.parent.name
            if (timeframe != exchange.FUNDING) is wanted:
                symbol = manifest.parent.parent.name.replace("_", ":").replace("-", "/", 1)
                found[f"{symbol} {timeframe}" if wanted else symbol] = (symbol, timeframe)
        return found


class PulledCandles(_Folders):
    """Candles by symbol and timeframe, such as ``BTC/USDT 1h``; a key is read at the first question about it."""

    def __init__(self, root: Path, exchange_name: str) -> None:
        super().__init__(root, exchange_name)
        self._tables: dict[str, tuple[Floats, ...]] = {}

    @property
    def origin(self) -> str:
        """Where the data comes from."""
        return f"candles of {self._exchange} through ccxt, as pulled"

    def _table(self, key: str) -> tuple[Floats, ...]:
        """Return close times, seconds since 1970, and the columns of the candles."""
        symbol, timeframe = self._found(True)[key]
        with self._lock:
            if key not in self._tables:
                try:
                    found = exchange.load(self._root, exchange=self._exchange, symbol=symbol, timeframe=timeframe)
                except ValueError as error:
                    raise ProviderUnavailable(str(error)) from error
                columns = (found.time, found.open, found.high, found.low, found.close, found.volume)
                self._tables[key] = (found.time + found.seconds, *columns)
            return self._tables[key]

    def keys(self, *, as_of: date) -> tuple[str, ...]:
        """Return the keys of which a candle had closed by the end of ``as_of`` (UTC)."""
        return tuple(key for key in self._found(True) if (self._table(key)[0][:1] <= _end_of(as_of)).any())

    def known(self, key: str, *, as_of: date) -> CryptoBars:
        """Return the candles that had closed by the end of ``as_of`` (UTC)."""
        if key not in self._found(True) or not (self._table(key)[0][:1] <= _end_of(as_of)).any():
            raise unknown_key(key, as_of, self.keys(as_of=as_of), HINT)
        closed, opened, *prices = self._table(key)
        rows = slice(0, int(np.searchsorted(closed, _end_of(as_of), "right")))
        # a candle that closes at midnight is known at the end of the day before
        last = np.nextafter(closed[rows], 0.0)
        columns = (tuple(each[rows].tolist()) for each in prices)
        return known_rows(CryptoBars(tuple(_days(last)), _moments(opened[rows]), *columns), as_of=as_of)


class PulledFunding(_Folders):
    """Funding rates by symbol, such as ``BTC/USDT:USDT``."""

    @property
    def origin(self) -> str:
        """Where the data comes from."""
        return f"funding rates of {self._exchange} through ccxt, as pulled"

    def _table(self, key: str) -> FundingRates:
        try:
            found = exchange.load_funding(self._root, exchange=self._exchange, symbol=key)
        except ValueError as error:
            raise ProviderUnavailable(str(error)) from error
        return FundingRates(tuple(_days(found.time)), _moments(found.time), tuple(found.rate.tolist()))

    def keys(self, *, as_of: date) -> tuple[str, ...]:
        """Return the symbols of which a rate had been paid by the end of ``as_of`` (UTC)."""
        return tuple(key for key in self._found(False) if self._table(key).known_on[:1] <= (as_of,))

    def known(self, key: str, *, as_of: date) -> FundingRates:
        """Return the rates that had been paid by the end of ``as_of`` (UTC)."""
        rows = known_rows(self._table(key), as_of=as_of) if key in self._found(False) else None
        if not rows:
            raise unknown_key(key, as_of, self.keys(as_of=as_of), HINT)
        return rows


def into(lake: Lake, settings: LakeSettings) -> Lake:
    """Put what was pulled from the exchange of these settings into the lake; it is never fetched during a run."""
    assert settings.crypto is not None
    root = Path(settings.path) / "crypto"
    if not any((root / settings.crypto).glob("*/**/manifest.json")):
        raise ValueError(
            f"crypto: {settings.crypto}: nothing was pulled into {root / settings.crypto}; traderbench data pull "
            f"crypto --exchange {settings.crypto} --symbol BTC/USDT --since 2020-01-01 --out {root} does"
        )
    return replace(
        lake,
        crypto_candles=PulledCandles(root, settings.crypto),
        funding=PulledFunding(root, settings.crypto),
        order_books=books(root, settings.crypto),
    )
