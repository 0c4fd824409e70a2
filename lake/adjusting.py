"""Splits that were known on a date, and prices restated by them: never by one that was still to come."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from datetime import date

from lake.point_in_time import UnknownKey
from lake.records import Bars
from lake.sample import Lake
from lake.splits import SPLITS, Split


def splits_known(lake: Lake, ticker: str, *, as_of: date) -> tuple[Split, ...]:
    """Return the splits of ``ticker`` up to ``as_of``, of the providers and of the embedded sample, each day once."""
    found = {split.day: split for split in SPLITS.get(ticker, ()) if split.day <= as_of}
    try:
        actions = lake.actions.known(ticker, as_of=as_of)
    except UnknownKey:
        return tuple(found.values())
    for day, kind, value in zip(actions.known_on, actions.kind, actions.value, strict=True):
        if kind == "split":
            found[day] = Split(day, value)
    return tuple(found[day] for day in sorted(found))


def ratio_on(lake: Lake, ticker: str, day: date) -> float:
    """Return how many shares one share becomes on ``day``: 1 unless it is the day of a split."""
    return next((split.ratio for split in splits_known(lake, ticker, as_of=day) if split.day == day), 1.0)


def adjusted(bars: Bars, splits: Sequence[Split]) -> Bars:
    """Return bars in shares of the last bar's day: earlier prices divided, volumes multiplied by the splits between."""
    last = bars.known_on[-1]
    factors = [math.prod(split.ratio for split in splits if day < split.day <= last) for day in bars.known_on]

    def divided(column: tuple[float, ...]) -> tuple[float, ...]:
        return tuple(value / factor for value, factor in zip(column, factors, strict=True))

    return replace(
        bars,
        open=divided(bars.open),
        high=divided(bars.high),
        low=divided(bars.low),
        close=divided(bars.close),
        volume=tuple(value * factor for value, factor in zip(bars.volume, factors, strict=True)),
    )
