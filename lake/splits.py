"""Share splits within the embedded prices, which are as traded: what a holder of shares across one must know."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from typing import NamedTuple

from lake.records import Bars


class Split(NamedTuple):
    """One share becomes ``ratio`` shares before the open of ``day``."""

    day: date
    ratio: float


SPLITS: dict[str, tuple[Split, ...]] = {
    "AAPL": (Split(date(2000, 6, 21), 2.0), Split(date(2005, 2, 28), 2.0)),
    "MSFT": (Split(date(2003, 2, 18), 2.0),),
}
"""From the companies' announcements. FB, GOOG and IBM had none between 2000 and March 2013."""


def ratio_on(ticker: str, day: date) -> float:
    """Return how many shares one share becomes on ``day``: 1 unless it is the day of a split."""
    return next((split.ratio for split in SPLITS.get(ticker, ()) if split.day == day), 1.0)


def adjusted(ticker: str, bars: Bars) -> Bars:
    """Return bars in shares of the last bar's day: earlier prices divided, volumes multiplied by the splits between.

    Only splits up to the last bar count, so adjusted history still knows nothing of the future.
    """
    last = bars.known_on[-1]
    factors = []
    for day in bars.known_on:
        factor = 1.0
        for split in SPLITS.get(ticker, ()):
            if day < split.day <= last:
                factor *= split.ratio
        factors.append(factor)

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
