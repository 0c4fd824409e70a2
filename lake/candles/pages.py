"""Asking an exchange page by page, and saying what of a span of time did not come.

Exchanges cut their answers in different ways: the first rows from a time on, the newest rows of the range that was
asked for, or the newest rows of all, whatever was asked. So nothing is concluded from the length of an answer: the next
request begins behind the last row that came, and what lies before the first row that came is asked for by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from lake.candles.candles import moment

Rows: TypeAlias = list[list[float]]
Fetch: TypeAlias = Callable[[int, int], Rows]
"""``(time in milliseconds, largest number of rows) -> rows``, the time first in each."""
DAY_MS = 86_400_000


def pages(fetch: Fetch, begin: int, stop: int, *, step: int | None, page: int) -> Rows:
    """Return all rows that come with begin <= time < stop, in the order of time, each once.

    Parameters
    ----------
    fetch
        One request.
    begin, stop
        Milliseconds.
    step
        Distance of rows, milliseconds; None where it may change, but is less than a day.
    page
        Largest number of rows to ask for.
    """
    rows: dict[float, list[float]] = {}
    spans = [(begin, stop)]
    while spans:
        at, end = spans.pop()
        if at >= end:
            continue
        limit = page if step is None else min(page, -(-(end - at) // step))
        found = fetch(at, limit)
        inside = sorted(row for row in found if at <= row[0] < end)
        if not found:
            # Some exchanges answer a gap longer than a page with nothing: look behind it.
            spans.append((at + (DAY_MS if step is None else limit * step), end))
        if not inside:
            continue
        rows.update((row[0], row) for row in inside)
        first, last = int(inside[0][0]), int(inside[-1][0])
        spans.append((last + (step or 1), end))
        if first - at >= (step or DAY_MS):
            spans.append((at, first))
    return [rows[time] for time in sorted(rows)]


@dataclass(frozen=True)
class Gap:
    """Rows that were asked for and did not come.

    Attributes
    ----------
    where
        ``start``, ``inside`` or ``end`` of the span that was asked for, or ``all`` of it.
    begin, end
        Times of the first and the last missing row, seconds since 1970.
    rows
        Their number; where rows have no fixed distance, by the distances around.
    """

    where: str
    begin: float
    end: float
    rows: int

    def __str__(self) -> str:
        place = {"start": "at the start", "inside": "inside", "end": "at the end", "all": "all of it"}[self.where]
        return f"{self.rows:,} missing, {place}: {moment(self.begin)} to {moment(self.end)}"


def gaps(time: npt.NDArray[np.float64], *, begin: float, stop: float, seconds: float) -> tuple[Gap, ...]:
    """Return what is missing of rows every ``seconds`` with begin <= time < stop; seconds since 1970, increasing.

    Rows lie on multiples of their distance, or as far from them as the first that came (weeks begin on a Monday).
    """
    held = time[(time >= begin) & (time < stop)]
    phase = float(held[0] % seconds) if held.size else 0.0
    first, after = (int(np.ceil((edge - phase) / seconds)) for edge in (begin, stop))
    numbers = np.unique(np.round((held - phase) / seconds).astype(int)).tolist()
    found = []
    for before, behind in pairwise([first - 1, *numbers, after]):
        if behind - before > 1:
            at, last = (phase + number * seconds for number in (before + 1, behind - 1))
            found.append(Gap(_where(before < first, behind == after), at, last, behind - before - 1))
    return tuple(found)


def irregular_gaps(time: npt.NDArray[np.float64], *, begin: float, stop: float) -> tuple[Gap, ...]:
    """Return what is missing of rows whose distance may change: where one is over 1.5 times the usual around it.

    Usual is the median of the three distances before, or of the three behind where that is larger. Of fewer than two
    rows there is no distance to count by: then all is missing, and ``rows`` is what two rows would have needed.
    """
    held = time[(time >= begin) & (time < stop)]
    if held.size < 2:
        return (Gap("all", begin, stop, 2 - int(held.size)),)
    steps = np.diff(held)
    found = []
    for index, step in enumerate(steps):
        around = [part for part in (steps[max(index - 3, 0) : index], steps[index + 1 : index + 4]) if part.size]
        usual = max((float(np.median(part)) for part in around), default=float(step))
        if step > 1.5 * usual:
            rows = int(np.round(step / usual)) - 1
            found.append(Gap("inside", float(held[index]) + usual, float(held[index + 1]) - usual, rows))
    # A rate stands a moment after the hour, or is not published yet: a twentieth of the distance is allowed for it.
    usual = float(np.median(steps[:3]))
    before = int(np.floor((held[0] - begin) / usual + 0.05))
    if before > 0:
        found.insert(0, Gap("start", float(held[0]) - before * usual, float(held[0]) - usual, before))
    usual = float(np.median(steps[-3:]))
    behind = int(np.floor((stop - held[-1]) / usual - 0.05))
    if behind > 0:
        found.append(Gap("end", float(held[-1]) + usual, float(held[-1]) + behind * usual, behind))
    return tuple(found)


def _where(at_start: bool, at_end: bool) -> str:
    if at_start and at_end:
        return "all"
    return "start" if at_start else "end" if at_end else "inside"


def listed(found: Sequence[Gap], *, most: int = 10) -> list[str]:
    """Return one line a gap, the first ``most`` of them."""
    rest = found[most:]
    more = [f"and {sum(gap.rows for gap in rest):,} more in {len(rest):,} places"] if rest else []
    return [*map(str, found[:most]), *more]
