"""Month-end values of the VIX index and of the 3-month Treasury bill."""

from __future__ import annotations

import csv
from datetime import date, timedelta
from importlib import resources
from typing import Any

from lake.point_in_time import PointInTime, Source
from lake.records import Observations

UNITS = {
    "VIX": "index points: implied volatility of the S&P 500 over 30 days, percent a year (close; Cboe)",
    "DTB3": "3-month US Treasury bill, secondary market, discount basis, percent a year (Federal Reserve H.15)",
}


def _published(series: str, day: date) -> date:
    """Return the day a value became public: the VIX close at once, H.15 on the next weekday."""
    if series == "VIX":
        return day
    return day + timedelta(days={4: 3, 5: 2}.get(day.weekday(), 1))


def _load() -> dict[str, Observations]:
    rows: dict[str, list[tuple[Any, ...]]] = {}
    text = resources.files("lake").joinpath("embedded/rates.csv").read_text(encoding="utf-8")
    for cells in csv.DictReader(text.splitlines()):
        day = date.fromisoformat(cells["date"])
        rows.setdefault(cells["series"], []).append((_published(cells["series"], day), day, float(cells["value"])))
    return {series: Observations.of(items) for series, items in rows.items()}


def embedded() -> Source[Observations]:
    """Return the embedded series: VIX from 2000, DTB3 from 2023, month ends."""
    return PointInTime("Cboe VIX closes and Federal Reserve H.15 (public domain), month ends", _load)
