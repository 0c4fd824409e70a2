"""Candles in the format of the published crypto scenarios: ``market_data.json`` with one state a bar.

A state has ``timestamp``, ``symbol`` and ``ohlcv``. Its indicators are not read, for they were computed from the bars
and are computed again; the funding rate beside them is of that moment and no payment, so it is not read either.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from lake.candles.candles import Candles, Floats

NAME = "market_data.json"
"""What the name of such a file ends in."""
MAX_BYTES = 1_000_000_000
FIELDS = ("open", "high", "low", "close", "volume")


def read(path: Path) -> dict[str, tuple[Floats, list[Floats]]]:
    """Return by symbol the times, seconds since 1970 UTC, and the columns of :data:`FIELDS`, in the order of the file.

    Raises
    ------
    ValueError
        The file is not in the format; names the state.
    """
    try:
        if path.stat().st_size > MAX_BYTES:
            raise ValueError(f"it has more than {MAX_BYTES:,} bytes")
        document = json.loads(path.read_bytes())
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path.name}: cannot be read as JSON: {error}") from error
    states = document.get("market_states") if isinstance(document, dict) else None
    if not isinstance(states, list) or not states:
        raise ValueError(f"{path.name}: no candles, it lacks a list under the key 'market_states'")
    rows: dict[str, list[tuple[float, ...]]] = {}
    for number, state in enumerate(states, start=1):
        try:
            symbol, row = _row(state)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise ValueError(
                f"{path.name}: state {number} is no bar of timestamp, symbol and ohlcv: {error}"
            ) from error
        rows.setdefault(symbol, []).append(row)
    tables = {symbol: np.array(found, np.float64).T for symbol, found in rows.items()}
    return {symbol: (table[0], list(table[1:])) for symbol, table in tables.items()}


def _row(state: Any) -> tuple[str, tuple[float, ...]]:
    moment = datetime.fromisoformat(state["timestamp"])
    seconds = (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    return str(state["symbol"]), (seconds, *(float(state["ohlcv"][name]) for name in FIELDS))


def candles(path: Path, symbol: str, seconds: float, time: Floats, columns: list[Floats]) -> Candles:
    """Return one symbol of a file as candles; the file's folder names the scenario."""
    return Candles(f"{path.parent.name}/{path.name}", symbol, seconds, time, *columns)
