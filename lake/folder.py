"""Daily prices of your own: a folder of CSV or Parquet files, one a ticker, read when a ticker is asked for.

``PATH/equities/TICKER.csv`` (or ``.parquet``) has the columns ``date``, ``open``, ``high``, ``low``, ``close`` and
``volume``, prices as traded; a bar is known on the evening of its date.
``PATH/equities/actions.csv`` may name splits and dividends: ``ticker``, ``date``, ``kind``, ``value``.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any, Generic

from lake.layers import Layered
from lake.point_in_time import PointInTime, RecordT, known_rows, unknown_key
from lake.records import Actions, Bars
from lake.sample import Lake
from lake.settings import LakeSettings

PRICES = ("open", "high", "low", "close")
ACTIONS = "actions.csv"
KINDS = ("split", "dividend")


def into(lake: Lake, settings: LakeSettings) -> Lake:
    """Put the folder's prices before those of the lake."""
    folder = Path(settings.path) / "equities"
    if not folder.is_dir():
        raise ValueError(f"lake.path: {folder} is no folder; equities: folder reads its files TICKER.csv or .parquet")
    actions = PointInTime(f"file {ACTIONS} of the user", lambda: read_actions(folder / ACTIONS))
    bars = FolderTables(folder, read_bars)
    return replace(lake, bars=Layered(bars, lake.bars), actions=Layered(actions, lake.actions))


class FolderTables(Generic[RecordT]):
    """The files of a folder, one a ticker; a file is read at the first question about its ticker.

    Parameters
    ----------
    read
        Returns the rows of one file.
    day
        The column that says on which day a row became known.
    """

    origin = "files of the user"

    def __init__(self, folder: Path, read: Callable[[Path], RecordT], *, day: str = "date") -> None:
        files = [path for path in folder.iterdir() if path.suffix in (".csv", ".parquet") and path.name != ACTIONS]
        self._files = {path.stem.upper(): path for path in sorted(files)}
        self._read = read
        self._day = day
        self._tables: dict[str, RecordT] = {}
        self._first: dict[Path, date] | None = None
        self._lock = threading.Lock()

    def _table(self, key: str) -> RecordT:
        with self._lock:
            if key not in self._tables:
                self._tables[key] = self._read(self._files[key])
            return self._tables[key]

    def keys(self, *, as_of: date) -> tuple[str, ...]:
        """Return the tickers of which a row was known on ``as_of``."""
        with self._lock:
            if self._first is None:
                self._first = _first_days(list(self._files.values()), self._day)
        return tuple(key for key, path in self._files.items() if self._first[path] <= as_of)

    def known(self, key: str, *, as_of: date) -> RecordT:
        """Return the rows of ``key`` that were known on ``as_of``."""
        keys = self.keys(as_of=as_of)
        # a file of the future is not opened: how long that takes would tell of it
        rows = known_rows(self._table(key), as_of=as_of) if key in keys else None
        if not rows:
            raise unknown_key(key, as_of, keys)
        return rows


def _first_days(files: list[Path], column: str) -> dict[Path, date]:
    """Return the first date of each file, in one query a format."""
    import duckdb

    found: dict[Path, date] = {}
    for read, suffix in (("read_csv", ".csv"), ("read_parquet", ".parquet")):
        names = [str(path) for path in files if path.suffix == suffix]
        if not names:
            continue
        source = f"{read}(?, filename=true, union_by_name=true)"
        query = f"SELECT filename, min(CAST({column} AS DATE)) FROM {source} GROUP BY 1"
        try:
            found |= {Path(name): day for name, day in duckdb.connect(":memory:").execute(query, [names]).fetchall()}
        except duckdb.Error as error:
            raise ValueError(
                f"{files[0].parent}: a file has no column {column}: {str(error).splitlines()[0]}"
            ) from error
    return found


def rows_of(path: Path, needed: tuple[str, ...]) -> list[dict[str, Any]]:
    """Return the rows of a file by column in small letters; ``ValueError`` where a needed column is not there."""
    import duckdb

    read = "read_parquet" if path.suffix == ".parquet" else "read_csv"
    try:
        found = duckdb.connect(":memory:").sql(f"SELECT * FROM {read}(?)", params=[str(path)])
        rows: list[dict[str, Any]] = found.to_arrow_table().to_pylist()
    except duckdb.Error as error:
        raise ValueError(f"{path} cannot be read: {str(error).splitlines()[0]}") from error
    rows = [{name.strip().lower(): value for name, value in row.items()} for row in rows]
    missing = [name for name in needed if rows and name not in rows[0]]
    if missing or not rows:
        there = ", ".join(rows[0]) if rows else "no rows"
        raise ValueError(f"{path}: it lacks {', '.join(missing or needed)}; it has {there}")
    return rows


def day_of(path: Path, number: int, name: str, value: Any) -> date:
    """Return the day in a cell; ``ValueError`` names file, row and column."""
    try:
        return date.fromisoformat(str(value)[:10])
    except ValueError:
        raise ValueError(f"{path}: row {number}: {name} must be a day such as 2024-01-02, got {value!r}") from None


def read_bars(path: Path) -> Bars:
    """Return the bars of one file.

    Raises
    ------
    ValueError
        Columns are missing, days do not increase, or a row is no candle; the file and the row are named.
    """
    rows, last = [], date.min
    for number, cells in enumerate(rows_of(path, ("date", *PRICES, "volume")), start=1):
        day = day_of(path, number, "date", cells["date"])
        if day <= last:
            raise ValueError(f"{path}: row {number}: {day} does not come after {last}")
        last = day
        opened, high, low, closed, volume = (number_of(path, number, name, cells) for name in (*PRICES, "volume"))
        if not 0 < low <= min(opened, closed) <= max(opened, closed) <= high or volume < 0:
            prices = f"open {opened:g}, high {high:g}, low {low:g}, close {closed:g}, volume {volume:g}"
            raise ValueError(f"{path}: row {number} of {day} is no candle: {prices}")
        rows.append((day, opened, high, low, closed, volume))
    return Bars.of(rows)


def number_of(path: Path, number: int, name: str, cells: Mapping[str, Any]) -> float:
    """Return the number in a cell; ``ValueError`` names file, row and column."""
    try:
        value = float(cells[name])
    except (TypeError, ValueError):
        value = math.nan
    if not math.isfinite(value):
        raise ValueError(f"{path}: row {number}: {name} must be a number, got {cells[name]!r}")
    return value


def read_actions(path: Path) -> dict[str, Actions]:
    """Return the splits and dividends of the file, by ticker; none where there is no file."""
    if not path.exists():
        return {}
    rows: dict[str, list[tuple[Any, ...]]] = {}
    for number, cells in enumerate(rows_of(path, ("ticker", "date", "kind", "value")), start=1):
        if cells["kind"] not in KINDS:
            raise ValueError(f"{path}: row {number}: kind must be one of {', '.join(KINDS)}, got {cells['kind']!r}")
        value = number_of(path, number, "value", cells)
        if value <= 0:
            raise ValueError(f"{path}: row {number}: value must be above 0, got {value:g}")
        day = day_of(path, number, "date", cells["date"])
        rows.setdefault(str(cells["ticker"]).upper(), []).append((day, cells["kind"], value))
    return {ticker: Actions.of(items) for ticker, items in rows.items()}
