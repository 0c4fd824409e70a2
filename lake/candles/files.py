"""Candles and funding rates from files: CSV, Parquet, Feather, the exchange's archive of zip files, and scenarios."""

from __future__ import annotations

import hashlib
import re
import zipfile
from collections.abc import Hashable
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from lake.candles import published
from lake.candles.candles import Candles, Floats, Funding, moment

if TYPE_CHECKING:
    import pandas as pd

TIME_NAMES = ("timestamp", "date", "datetime", "time", "open_time", "open_time_utc", "opentime", "calc_time", "t")
RATE_NAMES = ("funding_rate", "fundingrate", "last_funding_rate", "rate")
SUFFIXES = (".csv", ".csv.gz", ".parquet", ".feather", ".zip", published.NAME)
PRICES = ("open", "high", "low", "close")
QUOTES = ("USDT", "USDC", "BUSD", "USD")
GROUPS = ("window", "symbol", "interval")
ARCHIVE_COLUMNS = [
    *("open_time", "open", "high", "low", "close", "volume", "close_time", "quote_volume", "trades"),
    *("taker_base_volume", "taker_quote_volume", "ignore"),
]
ARCHIVE_FUNDING = ["calc_time", "funding_interval_hours", "last_funding_rate"]
UNITS = ((1e11, 1.0), (1e14, 1e3), (1e17, 1e6), (np.inf, 1e9))
"""Largest number, parts of a second: times before the year 5138 in s, ms, us and ns do not overlap from 1973 on."""


def read(path: Path | str) -> list[Candles]:
    """Return the candles of one file; several when it holds several symbols, intervals or windows.

    The format follows from the name: ``.csv``, ``.csv.gz``, ``.parquet``, ``.feather``, ``.zip`` as the exchange
    archives them, or ``market_data.json`` as scenarios are published (:mod:`lake.candles.published`). A column of times
    (``timestamp``, ``date``, ``open_time``, ...) and open, high, low, close, volume are needed, in any order and case.
    Times with a zone are converted to UTC; times without one are UTC.

    Raises
    ------
    ValueError
        When the format is unknown or columns are missing, naming them.
    """
    path = Path(path)
    if path.name.endswith(published.NAME):
        return [
            published.candles(path, symbol, bar_seconds(time, path.name), time, columns)
            for symbol, (time, columns) in published.read(path).items()
        ]
    frame = _frame(path, ARCHIVE_COLUMNS)
    times = [name for name in TIME_NAMES if name in frame.columns]
    missing = [name for name in (*PRICES, "volume") if name not in frame.columns]
    if missing or not times:
        wanted = ", ".join([*missing, *([] if times else ["a column of times"])])
        raise ValueError(f"{path.name}: no candles, it lacks {wanted}; it has {', '.join(map(str, frame.columns))}")
    groups = [name for name in GROUPS if name in frame.columns]
    parts = list(frame.groupby(groups, sort=False)) if groups else [((), frame)]
    return [_candles(path, groups, key, part, times[0]) for key, part in parts]


def _candles(path: Path, groups: list[str], key: Hashable, part: pd.DataFrame, time_name: str) -> Candles:
    labels = dict(zip(groups, cast("tuple[object, ...]", key), strict=True))
    symbol = str(labels.get("symbol", "")) or _symbol_of(path)
    source = " ".join([path.name, *(str(value) for name, value in labels.items() if name == "window")])
    time = seconds(part[time_name], path.name)
    columns = [part[name].to_numpy(dtype=np.float64) for name in (*PRICES, "volume")]
    return Candles(source, symbol, bar_seconds(time, path.name), time, *columns)


def coin(symbol: str) -> str:
    """Return the base currency of a symbol: ``BTC`` of ``BTCUSDT``, ``BTC/USDT:USDT`` or ``btc``."""
    first = re.split(r"[^A-Z0-9]", symbol.upper())[0]
    return next((first.removesuffix(quote) for quote in QUOTES if first.endswith(quote)), first)


def is_funding_of(path: Path, symbol: str) -> bool:
    """Return whether a file's name says that it holds funding rates of a symbol, quoted in whatever currency."""
    words = re.split(r"[^A-Z0-9]+", path.name.upper())
    return any("FUNDING" in word for word in words) and coin(symbol) in [coin(word) for word in words if coin(word)]


def _symbol_of(path: Path) -> str:
    name = path.name.split(".")[0].replace("_", "-").upper()
    return name.split("-")[0]


def bar_seconds(time: Floats, name: str) -> float:
    """Return the commonest distance between consecutive times.

    Raises
    ------
    ValueError
        When there are fewer than two different times.
    """
    steps = np.abs(np.diff(time))
    steps = steps[steps > 0.0]
    if not steps.size:
        raise ValueError(f"{name}: the length of a bar cannot be told from fewer than two different times")
    values, counts = np.unique(steps, return_counts=True)
    return float(values[np.argmax(counts)])


def seconds(column: pd.Series[Any], name: str) -> Floats:
    """Return times as seconds since 1970-01-01 UTC, from dates, from text, or from numbers in s, ms, us or ns.

    Raises
    ------
    ValueError
        When a time cannot be read, with its row and text.
    """
    import pandas as pd

    if pd.api.types.is_numeric_dtype(column):
        numbers = column.to_numpy(dtype=np.float64)
        largest = float(np.nanmax(np.abs(numbers))) if numbers.size else 0.0
        parts = next(parts for limit, parts in UNITS if largest < limit)
        return np.asarray(numbers / parts, np.float64)
    stamps = pd.to_datetime(column, utc=True, errors="coerce", format="ISO8601" if column.dtype == "str" else None)
    bad = stamps.isna().to_numpy()
    if bad.any():
        row = int(np.argmax(bad))
        raise ValueError(f"{name}: row {row} holds {column.iloc[row]!r}, which is no time")
    epoch = pd.Timestamp(0, tz="UTC")
    return np.asarray((stamps - epoch) / pd.Timedelta(seconds=1), np.float64)


def read_funding(path: Path | str) -> Funding:
    """Return the funding rates of one file.

    A column of times and one of rates (``funding_rate``, ``fundingRate``, ``last_funding_rate``) are needed. Files in
    the shape of candles that hold the rate as ``open`` and zeros elsewhere are understood too.

    Raises
    ------
    ValueError
        When columns are missing, or times do not increase.
    """
    path = Path(path)
    frame = _frame(path, ARCHIVE_FUNDING)
    times = [name for name in TIME_NAMES if name in frame.columns]
    rates = [name for name in RATE_NAMES if name in frame.columns]
    if not rates and set(PRICES) <= set(frame.columns) and not frame[["high", "low", "close"]].to_numpy().any():
        rates = ["open"]
    if not times or not rates:
        raise ValueError(f"{path.name}: no funding rates; it has {', '.join(map(str, frame.columns))}")
    time, rate = seconds(frame[times[0]], path.name), frame[rates[0]].to_numpy(dtype=np.float64)
    backwards = np.flatnonzero(np.diff(time) <= 0.0)
    if backwards.size:
        row = int(backwards[0]) + 1
        raise ValueError(f"{path.name}: row {row}, {moment(time[row])}, does not come after {moment(time[row - 1])}")
    if not np.isfinite(rate).all():
        raise ValueError(f"{path.name}: row {int(np.argmin(np.isfinite(rate)))} holds no rate")
    return Funding(path.name, time, rate)


def _frame(path: Path, archive_columns: list[str]) -> pd.DataFrame:
    import pandas as pd

    name = path.name.lower()
    if name.endswith((".csv", ".csv.gz")):
        frame = pd.read_csv(path)
    elif name.endswith(".parquet"):
        frame = pd.read_parquet(path)
    elif name.endswith(".feather"):
        frame = pd.read_feather(path)
    elif name.endswith(".zip"):
        frame = _archived(path, archive_columns)
    else:
        raise ValueError(f"{path.name}: unknown format; known are {', '.join(SUFFIXES[:-1])} and {SUFFIXES[-1]}")
    if frame.index.name is not None:
        frame = frame.reset_index()
    frame.columns = pd.Index([str(column).strip().lower() for column in frame.columns])
    return frame


def _archived(path: Path, columns: list[str]) -> pd.DataFrame:
    """Return the one table in a zip of the exchange's archive; some have a row of names, some do not."""
    import pandas as pd

    check_archive(path)
    with zipfile.ZipFile(path) as archive:
        inside = archive.namelist()
        if len(inside) != 1:
            raise ValueError(f"{path.name}: an archive of the exchange holds one file, this holds {inside}")
        with archive.open(inside[0]) as file:
            named = file.readline()[:1].isalpha()
        with archive.open(inside[0]) as file:
            return pd.read_csv(file) if named else pd.read_csv(file, header=None, names=columns)


def check_archive(path: Path) -> None:
    """Compare a file with the ``.CHECKSUM`` (sha256) beside it, where there is one.

    Raises
    ------
    ValueError
        When they differ.
    """
    beside = path.with_name(path.name + ".CHECKSUM")
    if not beside.exists():
        return
    stated, actual = beside.read_text().split()[0].lower(), hashlib.sha256(path.read_bytes()).hexdigest()
    if stated != actual:
        raise ValueError(f"{path.name}: its sha256 is {actual}, its CHECKSUM file says {stated}: fetch it again")
