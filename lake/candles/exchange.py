"""Candles and funding rates from an exchange, through ccxt: month by month, resumable, checksummed.

Layout of a folder: ``EXCHANGE/SYMBOL/TIMEFRAME/2024-01.parquet`` and a ``manifest.json`` with the sha256 and the number
of rows of each month. A month that lacks nothing is never asked for again; of any other, what came before is kept.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import numpy as np

from lake import whole_file
from lake.candles.candles import Candles, Funding, moment
from lake.candles.faults import Report, examine
from lake.candles.pages import Fetch, Gap, Rows, gaps, irregular_gaps, pages

PAGE = 100
"""Rows of a request where ccxt does not say how many the exchange serves."""
ATTEMPTS = 6
TIMEOUT_S = 30.0
FUNDING = "funding"
CANDLE_COLUMNS = ("time", "open", "high", "low", "close", "volume")
FUNDING_COLUMNS = ("time", "rate")


@dataclass(frozen=True)
class Pulled:
    """What a pull has brought.

    Attributes
    ----------
    folder
        Where the months lie.
    rows, new_rows
        Rows in the folder; rows that this pull added.
    missing
        What of the span that was asked for is not in the folder; empty when all came.
    sha256
        Of the manifest: one number for the whole folder.
    report
        On all candles of the folder; None for funding rates.
    """

    folder: Path
    rows: int
    new_rows: int
    missing: tuple[Gap, ...]
    sha256: str
    report: Report | None


def connect(exchange: str, *, symbol: str, base_url: str | None = None) -> Any:
    """Return a ccxt client with its rate limit on.

    Parameters
    ----------
    symbol
        ccxt's unified form: ``BTC/USDT`` spot, ``BTC/USDT:USDT`` perpetual future.
    base_url
        Scheme and host of a mirror or proxy that speaks the exchange's API; the exchange itself when omitted.

    Raises
    ------
    ValueError
        For an exchange that ccxt does not know, or one without candles.
    """
    import ccxt

    if exchange not in ccxt.exchanges:
        raise ValueError(f"unknown exchange {exchange!r}; ccxt knows {len(ccxt.exchanges)}, for example binance, okx")
    kind = "linear" if ":" in symbol else "spot"
    options = {"fetchMarkets": {"types": [kind]}, "fetchCurrencies": False}
    client = getattr(ccxt, exchange)({"enableRateLimit": True, "timeout": int(TIMEOUT_S * 1000), "options": options})
    if not client.has.get("fetchOHLCV"):
        raise ValueError(f"exchange {exchange!r} serves no candles")
    client.has["fetchCurrencies"] = False
    client.session.hooks["response"].append(_require_json)
    if base_url is not None:
        client.urls["api"] = _moved(client.urls["api"], base_url)
    return client


def _require_json(response: Any, **_: Any) -> None:
    """Raise as for a broken connection where a good answer is no JSON: ccxt reads it as one without any rows."""
    import ccxt

    if not response.ok:
        return
    try:
        response.json()
        return
    except ValueError:
        said = ValueError(f"an answer that is no JSON: {response.text[:80]!r}")
    raise ccxt.NetworkError(response.url) from said


def _moved(urls: Any, base_url: str) -> Any:
    if isinstance(urls, dict):
        return {name: _moved(url, base_url) for name, url in urls.items()}
    base, old = urlsplit(base_url), urlsplit(str(urls))
    return urlunsplit((base.scheme, base.netloc, old.path, old.query, old.fragment))


def pull(
    folder: Path | str,
    *,
    exchange: str,
    symbol: str,
    timeframe: str,
    since: str,
    until: str | None = None,
    base_url: str | None = None,
    progress: Callable[[str], None] = lambda line: None,
) -> Pulled:
    """Fetch candles into a folder, going on where an earlier pull ended.

    Parameters
    ----------
    folder
        Root of the store; created when absent.
    exchange, symbol, timeframe
        ccxt's names: ``binance``, ``BTC/USDT``, ``1h``.
    since, until
        ISO dates or times, UTC; ``until`` is excluded and now when omitted. Candles that have not closed are left out.
    base_url
        See :func:`connect`.
    progress
        Is told one line a month.

    Raises
    ------
    ValueError
        For a wrong argument, or a stored month that fails its checksum.
    ConnectionError
        When the exchange does not answer after several attempts; months fetched so far are kept.
    """
    asked = _asked(since, until)
    client = connect(exchange, symbol=symbol, base_url=base_url)
    try:
        if timeframe not in (client.timeframes or {}):
            raise ValueError(
                f"timeframe {timeframe!r} is not served by {exchange}; it has {', '.join(client.timeframes)}"
            )
        _require_symbol(client, symbol)
        length = timeframe_seconds(timeframe) * 1000

        def fetch(start: int, limit: int) -> Rows:
            rows: Rows = _attempt(lambda: client.fetch_ohlcv(symbol, timeframe, start, limit), exchange)
            return rows

        span = _span(asked, _now_ms(client, exchange) - length + 1)
        store = _Store(Path(folder), exchange, symbol, timeframe, CANDLE_COLUMNS, seconds=length // 1000)
        new = store.fill(fetch, span, _page(client, symbol, "fetchOHLCV"), progress)
    finally:
        client.session.close()
    report = examine(load(folder, exchange=exchange, symbol=symbol, timeframe=timeframe)) if store.rows() else None
    return Pulled(store.folder, store.rows(), new, store.missing(span), store.digest(), report)


def pull_funding(
    folder: Path | str,
    *,
    exchange: str,
    symbol: str,
    since: str,
    until: str | None = None,
    base_url: str | None = None,
    progress: Callable[[str], None] = lambda line: None,
) -> Pulled:
    """Fetch the funding rates of a perpetual future (``BTC/USDT:USDT``); otherwise like :func:`pull`."""
    if ":" not in symbol:
        raise ValueError(
            f"funding is paid by perpetual futures; {symbol!r} is spot, did you mean {symbol + ':USDT'!r}?"
        )
    asked = _asked(since, until)
    client = connect(exchange, symbol=symbol, base_url=base_url)
    try:
        if not client.has.get("fetchFundingRateHistory"):
            raise ValueError(f"exchange {exchange!r} serves no history of funding rates")
        _require_symbol(client, symbol)

        def fetch(start: int, limit: int) -> Rows:
            found = _attempt(lambda: client.fetch_funding_rate_history(symbol, start, limit), exchange)
            return [[float(each["timestamp"]), float(each["fundingRate"])] for each in found]

        span = _span(asked, _now_ms(client, exchange))
        store = _Store(Path(folder), exchange, symbol, FUNDING, FUNDING_COLUMNS, seconds=None)
        new = store.fill(fetch, span, _page(client, symbol, "fetchFundingRateHistory"), progress)
    finally:
        client.session.close()
    return Pulled(store.folder, store.rows(), new, store.missing(span), store.digest(), None)


@dataclass(frozen=True)
class Book:
    """A snapshot of an order book: ``[price, quantity]`` a level, the best first; ``read_at`` in seconds since 1970."""

    read_at: float
    bids: tuple[tuple[float, float], ...]
    asks: tuple[tuple[float, float], ...]


def read_book(exchange: str, *, symbol: str, depth: int = 50, base_url: str | None = None) -> Book:
    """Return the order book as it is now; exchanges show no past ones.

    Raises
    ------
    ValueError
        For a wrong argument, or a book that is crossed or out of order.
    ConnectionError
        When the exchange does not answer after several attempts.
    """
    client = connect(exchange, symbol=symbol, base_url=base_url)
    try:
        if not client.has.get("fetchOrderBook"):
            raise ValueError(f"exchange {exchange!r} serves no order books")
        _require_symbol(client, symbol)
        found = _attempt(lambda: client.fetch_order_book(symbol, depth), exchange)
        stamp = found.get("timestamp") or _now_ms(client, exchange)
    finally:
        client.session.close()
    sides = [tuple((float(row[0]), float(row[1])) for row in found[side][:depth]) for side in ("bids", "asks")]
    book = Book(float(stamp) / 1000.0, *sides)
    prices = [[price for price, _ in side] for side in sides]
    sorted_right = prices == [sorted(prices[0], reverse=True), sorted(prices[1])]
    if not all(prices) or not sorted_right or prices[0][0] >= prices[1][0]:
        raise ValueError(f"{exchange} gave an order book of {symbol} that is empty, crossed or out of order")
    return book


def load(folder: Path | str, *, exchange: str, symbol: str, timeframe: str) -> Candles:
    """Return pulled candles; every month is checked against its sha256.

    Raises
    ------
    ValueError
        When there are none, or a month was changed since it was pulled.
    """
    seconds = timeframe_seconds(timeframe)
    table = _Store(Path(folder), exchange, symbol, timeframe, CANDLE_COLUMNS, seconds=seconds).read()
    return Candles(f"{exchange} {timeframe}", symbol, float(seconds), *table)


def timeframe_seconds(timeframe: str) -> int:
    """Return the length of a bar: ``1m``, ``4h``, ``1d``, ``1w``.

    Raises
    ------
    ValueError
        For anything else; calendar months have no fixed length.
    """
    units = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800}
    if timeframe[:-1].isdigit() and timeframe[-1:] in units and int(timeframe[:-1]) > 0:
        return int(timeframe[:-1]) * units[timeframe[-1]]
    raise ValueError(f"timeframe must be a number and one of s, m, h, d, w, such as 1h, got {timeframe!r}")


def load_funding(folder: Path | str, *, exchange: str, symbol: str) -> Funding:
    """Return pulled funding rates; otherwise like :func:`load`."""
    table = _Store(Path(folder), exchange, symbol, FUNDING, FUNDING_COLUMNS, seconds=None).read()
    return Funding(f"{exchange} {symbol}", *table)


def _require_symbol(client: Any, symbol: str) -> None:
    markets = _attempt(client.load_markets, client.id)
    if symbol not in markets:
        alike = [name for name in markets if name.split("/")[0] == symbol.split("/")[0]][:5]
        raise ValueError(f"{client.id} has no market {symbol!r}; alike: {', '.join(alike) or 'none'}")


def _page(client: Any, symbol: str, call: str) -> int:
    """Return how many rows the exchange serves at once, as ccxt describes it."""
    described = client.feature_value(symbol, call, "limit")
    return int(described) if described else PAGE


def _now_ms(client: Any, exchange: str) -> int:
    """Return the exchange's own time: whether a candle has closed is for its clock to say."""
    if client.has.get("fetchTime"):
        return int(_attempt(client.fetch_time, exchange))
    return int(client.milliseconds())


def _attempt(call: Callable[[], Any], exchange: str) -> Any:
    """Return the result of a call, tried again with growing pauses while the network or the exchange fails."""
    import ccxt

    pause = 0.5
    for attempt in range(ATTEMPTS):
        try:
            return call()
        except ccxt.NetworkError as error:
            if attempt == ATTEMPTS - 1:
                raise ConnectionError(
                    f"{exchange} failed {ATTEMPTS} times, at last: {error} ({_cause(error)})"
                ) from error
            time.sleep(pause)
            pause *= 2.0
        except ccxt.BaseError as error:
            raise ValueError(f"{exchange} refuses: {error}") from error
    raise AssertionError("the loop returns or raises")


def _cause(error: BaseException) -> str:
    """Return what lies under an error of the network: ccxt names only the address that it asked."""
    while below := error.__cause__ or error.__context__:
        error = below
    words = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return " ".join(words.split()) or type(error).__name__


def _asked(since: str, until: str | None) -> tuple[int, int | None]:
    """Return the span that is asked for, in milliseconds; None ends it now."""
    start, end = _milliseconds("since", since), None if until is None else _milliseconds("until", until)
    if end is not None and start >= end:
        raise ValueError(f"since {since!r} is not before {until!r}")
    return start, end


def _span(asked: tuple[int, int | None], now: int) -> tuple[int, int]:
    start, end = asked[0], now if asked[1] is None else min(asked[1], now)
    if start >= end:
        raise ValueError(f"since {moment(start / 1000)!r} is not before {moment(end / 1000)!r}")
    return start, end


def _milliseconds(name: str, text: str) -> int:
    try:
        stamp = datetime.fromisoformat(text)
    except ValueError:
        raise ValueError(f"{name} must be an ISO date (YYYY-MM-DD) such as 2020-01-01, got {text!r}") from None
    zoned = stamp if stamp.tzinfo else stamp.replace(tzinfo=UTC)
    return int(zoned.timestamp() * 1000)


def _months(start: int, end: int) -> Iterator[tuple[str, int, int]]:
    """Yield name, first and last (excluded) millisecond of each calendar month that the span touches."""
    at = datetime.fromtimestamp(start / 1000, UTC).replace(day=1, hour=0, minute=0, second=0, microsecond=0)
    while (first := int(at.timestamp() * 1000)) < end:
        after = at.replace(year=at.year + at.month // 12, month=at.month % 12 + 1)
        yield f"{at:%Y-%m}", first, int(after.timestamp() * 1000)
        at = after


class _Store:
    """The months of one symbol and timeframe on disk."""

    def __init__(
        self,
        root: Path,
        exchange: str,
        symbol: str,
        timeframe: str,
        columns: tuple[str, ...],
        *,
        seconds: int | None,
    ) -> None:
        self.folder = root / exchange / symbol.replace("/", "-").replace(":", "_") / timeframe
        self.columns = columns
        self.seconds = seconds
        self._path = self.folder / "manifest.json"
        self._months: dict[str, dict[str, Any]] = json.loads(self._path.read_text()) if self._path.exists() else {}

    def rows(self) -> int:
        return sum(int(month["rows"]) for month in self._months.values())

    def digest(self) -> str:
        return hashlib.sha256(json.dumps(self._months, sort_keys=True).encode()).hexdigest()

    def missing(self, span: tuple[int, int], rows: Rows | None = None) -> tuple[Gap, ...]:
        """Return what of a span, milliseconds, is not here (or not in ``rows``)."""
        if rows is None:
            times = self.read()[0] if self._months else np.empty(0)
        else:
            times = np.array([row[0] for row in rows], np.float64) / 1000.0
        begin, stop = (edge / 1000.0 for edge in span)
        if self.seconds is None:
            return irregular_gaps(times, begin=begin, stop=stop)
        return gaps(times, begin=begin, stop=stop, seconds=self.seconds)

    def fill(self, fetch: Fetch, span: tuple[int, int], page: int, progress: Callable[[str], None]) -> int:
        """Fetch every month of the span that lacks something; return the number of rows that were added."""
        start, end = span
        fetched = 0
        for name, first, after in _months(start, end):
            begin, stop = max(start, first), min(after, end)
            known = self._months.get(name)
            kept = self._rows_of(name) if known is not None else []
            if known is not None:
                complete = not self.missing((int(known["from"]), int(known["to"])), kept)
                if known["from"] <= begin and known["to"] >= stop and complete:
                    progress(f"{name}: {known['rows']} rows, already here")
                    continue
                begin, stop = min(begin, int(known["from"])), max(stop, int(known["to"]))
            step = None if self.seconds is None else self.seconds * 1000
            came = pages(fetch, begin, stop, step=step, page=page)
            rows = [row for _, row in sorted({row[0]: row for row in (*kept, *came)}.items())]
            self._write(name, rows, begin, stop)
            fetched += len(rows) - len(kept)
            lacks = sum(gap.rows for gap in self.missing((begin, stop), rows))
            progress(f"{name}: {len(rows)} rows" + (f", {lacks} missing" if lacks else ""))
        return fetched

    def _rows_of(self, name: str) -> Rows:
        """Return a stored month as it was fetched: milliseconds first."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        table = pq.read_table(pa.BufferReader(self._verify(name)))
        times = np.round(table["time"].to_numpy() * 1000.0)
        values = [table[column].to_numpy() for column in self.columns[1:]]
        rows: Rows = np.column_stack([times, *values]).tolist()
        return rows

    def _write(self, name: str, rows: Rows, begin: int, stop: int) -> None:
        import pyarrow as pa
        import pyarrow.parquet as pq

        table = np.asarray(rows, np.float64).reshape(-1, len(self.columns))
        table[:, 0] /= 1000.0
        self.folder.mkdir(parents=True, exist_ok=True)
        sink = pa.BufferOutputStream()
        pq.write_table(pa.table(dict(zip(self.columns, table.T, strict=True))), sink)
        content = sink.getvalue().to_pybytes()
        whole_file.replace(self.folder / f"{name}.parquet", content)
        digest = hashlib.sha256(content).hexdigest()
        self._months[name] = {"rows": len(rows), "sha256": digest, "from": begin, "to": stop}
        whole_file.replace(self._path, json.dumps(self._months, indent=1, sort_keys=True).encode())

    def _verify(self, name: str) -> bytes:
        path = self.folder / f"{name}.parquet"
        content = path.read_bytes() if path.exists() else b""
        if hashlib.sha256(content).hexdigest() != self._months[name]["sha256"]:
            raise ValueError(f"{path} was changed or lost since it was pulled: remove {self._path} and pull again")
        return content

    def read(self) -> list[np.ndarray[tuple[int], np.dtype[np.float64]]]:
        """Return the columns of all months."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        if not self._months:
            raise ValueError(f"nothing was pulled into {self.folder}")
        tables = [pq.read_table(pa.BufferReader(self._verify(name))) for name in sorted(self._months)]
        joined = pa.concat_tables(tables)
        return [joined[column].to_numpy() for column in self.columns]
