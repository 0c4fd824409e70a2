"""What is wrong with candles. Nothing is repaired: faults are listed, and the stretches between them found."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from lake.candles.candles import Candles, Floats, moment

RESTART_GAP_SECONDS = 86_400.0
RESTART_PRICE_RATIO = 5.0
RENAMED = {
    "LUNA": "Terra's LUNA stopped trading on 2022-05-13 (now LUNC); the ticker restarted on 2022-05-31 as another coin",
}
"""Tickers that are known to have changed their coin."""


@dataclass(frozen=True)
class Fault:
    """One kind of fault: how often, and where first.

    Attributes
    ----------
    kind
        ``not_finite``, ``not_positive``, ``range``, ``negative_volume``, ``unsorted``, ``duplicate``, ``off_grid``,
        ``gap`` or ``coin_change``.
    bars
        Number of bars concerned (for a gap: of bars missing).
    row
        Row number of the first.
    text
        What is wrong there, in words.
    """

    kind: str
    bars: int
    row: int
    text: str


@dataclass(frozen=True)
class Report:
    """What is known about a set of candles before they are used."""

    source: str
    symbol: str
    bars: int
    seconds: float
    first: str
    last: str
    faults: tuple[Fault, ...]

    def __str__(self) -> str:
        head = f"{self.source} {self.symbol}".strip()
        lines = [f"{head}: {self.bars} bars of {self.seconds:g} s, {self.first} to {self.last}"]
        lines += [f"  {fault.kind}: {fault.bars} bars, first at row {fault.row}: {fault.text}" for fault in self.faults]
        return "\n".join(lines if self.faults else [*lines, "  no faults"])


def examine(candles: Candles) -> Report:
    """Return the report on candles. Times must be UTC already: readers convert or refuse others."""
    if len(candles) == 0:
        raise ValueError(f"{candles.source}: there are no candles")
    faults = (*_value_faults(candles), *_time_faults(candles))
    first, last = moment(float(candles.time.min())), moment(float(candles.time.max()))
    return Report(candles.source, candles.symbol, len(candles), candles.seconds, first, last, faults)


def _fault(kind: str, bad: npt.NDArray[np.bool_], candles: Candles, text: str) -> Iterator[Fault]:
    if bad.any():
        row = int(np.argmax(bad))
        c = candles
        values = f"open {c.open[row]:g} high {c.high[row]:g} low {c.low[row]:g} close {c.close[row]:g}"
        yield Fault(kind, int(bad.sum()), row, f"{text} ({moment(c.time[row])}: {values} volume {c.volume[row]:g})")


def _value_faults(c: Candles) -> Iterator[Fault]:
    prices = np.stack([c.open, c.high, c.low, c.close])
    finite = np.isfinite(prices).all(axis=0) & np.isfinite(c.volume) & np.isfinite(c.time)
    positive = (prices > 0.0).all(axis=0)
    yield from _fault("not_finite", ~finite, c, "a value is missing or not a number")
    yield from _fault("not_positive", finite & ~positive, c, "a price is not above 0")
    outside = (c.low > np.minimum(c.open, c.close)) | (c.high < np.maximum(c.open, c.close))
    yield from _fault("range", finite & positive & outside, c, "open or close lies outside of low to high")
    yield from _fault("negative_volume", finite & (c.volume < 0.0), c, "the volume is negative")


def _time_faults(c: Candles) -> Iterator[Fault]:
    steps = np.diff(c.time)
    backwards = np.flatnonzero(steps < 0.0) + 1
    if backwards.size:
        row = int(backwards[0])
        text = f"{moment(c.time[row])} comes after {moment(c.time[row - 1])}"
        yield Fault("unsorted", int(backwards.size), row, text)
    order = np.argsort(c.time, kind="stable")
    time = c.time[order]
    steps = np.diff(time)
    same = np.flatnonzero(steps == 0.0) + 1
    if same.size:
        yield Fault("duplicate", int(same.size), int(order[same[0]]), f"{moment(time[same[0]])} occurs again")
    off = np.flatnonzero((time - time[0]) % c.seconds != 0.0)
    if off.size:
        text = f"{moment(time[off[0]])} is not a whole number of bars after {moment(time[0])}"
        yield Fault("off_grid", int(off.size), int(order[off[0]]), text)
    yield from _gaps(c, order, time, steps)


def _gaps(c: Candles, order: npt.NDArray[np.intp], time: Floats, steps: Floats) -> Iterator[Fault]:
    after = np.flatnonzero(steps > c.seconds) + 1
    if not after.size:
        return
    missing = np.round(steps[after - 1] / c.seconds).astype(int) - 1
    at = int(after[0])
    text = f"nothing between {moment(time[at - 1])} and {moment(time[at])}; {after.size} gaps in all"
    yield Fault("gap", int(missing.sum()), int(order[at]), text)
    ratio = c.open[order][after] / c.close[order][after - 1]
    jumped = np.maximum(ratio, 1.0 / ratio) >= RESTART_PRICE_RATIO
    restarts = after[(steps[after - 1] >= RESTART_GAP_SECONDS) & jumped]
    if restarts.size:
        at = int(restarts[0])
        known = next((f"; {text}" for name, text in RENAMED.items() if c.symbol.upper().startswith(name)), "")
        text = (
            f"{c.close[order][at - 1]:g} on {moment(time[at - 1])}, {c.open[order][at]:g} on {moment(time[at])}: "
            f"probably another coin under the same ticker{known}"
        )
        yield Fault("coin_change", int(restarts.size), int(order[at]), text)


def stretches(candles: Candles, *, bars: int = 2) -> list[Candles]:
    """Return the faultless runs of at least ``bars`` consecutive candles, in the order of the source.

    A run ends at every faulty candle, and wherever the next candle does not open exactly one bar later.
    """
    c = candles
    prices = np.stack([c.open, c.high, c.low, c.close])
    sound = np.isfinite(prices).all(axis=0) & (prices > 0.0).all(axis=0) & np.isfinite(c.volume) & (c.volume >= 0.0)
    sound &= (c.low <= np.minimum(c.open, c.close)) & (c.high >= np.maximum(c.open, c.close))
    joined = np.zeros(len(c), bool)
    joined[1:] = (np.diff(c.time) == c.seconds) & sound[1:] & sound[:-1]
    starts = np.flatnonzero(sound & ~joined)
    ends = np.append(starts, len(c))[1:]
    runs: list[Candles] = []
    for start, end in zip(starts, ends, strict=True):
        length = 1 + int(np.argmin(np.append(joined[start + 1 : end], False)))
        if length >= bars:
            runs.append(c.rows(slice(int(start), int(start) + length)))
    return runs
