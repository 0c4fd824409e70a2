"""Option quotes of your own: a folder of end-of-day files as Cboe sells them, one an underlying.

``PATH/options/TICKER.csv`` (or ``.parquet``) has ``quote_date``, ``expiration``, ``strike``, ``option_type`` (``C``,
``P``, call, put), ``bid_eod`` and ``ask_eod``, and may have ``underlying_bid_eod`` and ``underlying_ask_eod``,
``close``, ``trade_volume``, ``open_interest`` and ``implied_volatility_1545``. Plain names are taken too: ``bid``,
``ask``, ``spot``, ``last``, ``volume``, ``implied_volatility``. Quotes are known on the evening of their date; a bid or
an ask of 0 is none.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import date, datetime, time
from pathlib import Path
from typing import Any

from lake.clock import NEW_YORK, zone
from lake.folder import FolderTables, day_of, number_of, rows_of
from lake.records import OptionQuotes
from lake.sample import Lake
from lake.settings import LakeSettings

NEEDED = ("quote_date", "expiration", "strike", "option_type")
NAMES: Mapping[str, tuple[str, ...]] = {
    "bid": ("bid", "bid_eod"),
    "ask": ("ask", "ask_eod"),
    "last": ("last", "close"),
    "volume": ("volume", "trade_volume"),
    "open_interest": ("open_interest",),
    "implied_volatility": ("implied_volatility", "implied_volatility_1545"),
}
"""Column of the record -> its names in a file."""
KINDS = {"c": "call", "call": "call", "p": "put", "put": "put"}
CLOSE = time(16, 0)


def into(lake: Lake, settings: LakeSettings) -> Lake:
    """Put the folder's quotes into the lake."""
    folder = Path(settings.path) / "options"
    if not folder.is_dir():
        raise ValueError(f"lake.path: {folder} is no folder; options: folder reads its files TICKER.csv or .parquet")
    return replace(lake, option_quotes=FolderTables(folder, read_quotes, day="quote_date"))


def read_quotes(path: Path) -> OptionQuotes:
    """Return the quotes of one file.

    Raises
    ------
    ValueError
        Columns are missing, a cell is not what its column says, or an option is quoted twice on a day.
    """
    rows: list[tuple[Any, ...]] = []
    seen: dict[tuple[date, date, str, float], int] = {}
    columns: dict[str, str | None] = {}
    for number, cells in enumerate(rows_of(path, NEEDED), start=1):
        columns = columns or _columns(path, cells)
        day = day_of(path, number, "quote_date", cells["quote_date"])
        expiration = day_of(path, number, "expiration", cells["expiration"])
        kind = KINDS.get(str(cells["option_type"]).strip().lower())
        if kind is None:
            raise ValueError(f"{path}: row {number}: option_type must be C or P, got {cells['option_type']!r}")
        strike = number_of(path, number, "strike", cells)
        if strike <= 0.0:
            raise ValueError(f"{path}: row {number}: strike must be above 0, got {strike:g}")
        option = (day, expiration, kind, strike)
        if option in seen:
            raise ValueError(
                f"{path}: row {number}: the {strike:g} {kind} of {expiration} is quoted twice on {day}, first in row "
                f"{seen[option]}; a file holds one class of options"
            )
        seen[option] = number
        read_at = datetime.combine(day, CLOSE, zone(NEW_YORK))
        figures = [_figure(path, number, name, cells) for name in columns.values()]
        rows.append((day, read_at, _spot(path, number, cells), expiration, kind, strike, *_in_order(columns, figures)))
    return OptionQuotes.of(rows)


def _columns(path: Path, cells: Mapping[str, Any]) -> dict[str, str | None]:
    """Return where each column of the record stands in the file."""
    found = {field: next((name for name in names if name in cells), None) for field, names in NAMES.items()}
    for field in ("bid", "ask"):
        if found[field] is None:
            raise ValueError(f"{path}: it lacks {' or '.join(NAMES[field])}; it has {', '.join(cells)}")
    return found


def _in_order(columns: Mapping[str, str | None], figures: list[float | None]) -> list[float | None]:
    by_field = dict(zip(columns, figures, strict=True))
    order = ("last", "bid", "ask", "volume", "open_interest", "implied_volatility")
    # vendors write 0 where there is no quote and no trade
    return [(by_field[name] or None) if name in ("last", "bid", "ask") else by_field[name] for name in order]


def _figure(path: Path, number: int, name: str | None, cells: Mapping[str, Any]) -> float | None:
    if name is None or cells[name] is None or cells[name] == "":
        return None
    value = number_of(path, number, name, cells)
    if value < 0.0:
        raise ValueError(f"{path}: row {number}: {name} must not be negative, got {value:g}")
    return value


def _spot(path: Path, number: int, cells: Mapping[str, Any]) -> float | None:
    names = [name for name in ("spot",) if name in cells] or [
        name for name in ("underlying_bid_eod", "underlying_ask_eod") if name in cells
    ]
    told = [value for name in names if (value := _figure(path, number, name, cells))]
    return sum(told) / len(told) if told else None
