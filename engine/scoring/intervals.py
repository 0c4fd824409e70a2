"""95% intervals of scores: of one section, on the 0-100 scale or around zero skill, and of their weighted sum."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple, TypeAlias

from engine.scoring.statistics import Estimate, Sample, clustered_mean, interval, student_t_quantile, without_spread

Span: TypeAlias = tuple[float, float]
"""Lower and upper limit."""

PSEUDO_FAMILIES = ("\0low", "\0high")
"""Names that no dataset gives a family."""
NO_SPREAD = 1e-6
"""Standard error, in points, that is dust of the computation and no spread of skill."""


class Part(NamedTuple):
    """One term of a weighted sum: its weight, value and 95% interval (None: not known)."""

    weight: float
    value: float
    span: Span | None


def bounded(samples: Iterable[Sample], *, low: float = 0.0, high: float = 100.0) -> Span | None:
    """Return the 95% interval of a mean of values that lie in [``low``, ``high``]; None with fewer than two families.

    It is Wilson's interval (1927) for the effective number of tasks: as many as would scatter, solved or not, like the
    families do. Two pseudo-families, one at either end of the scale and each with the mean weight of a family, join
    the sample before its scatter is looked at, and leave the number again (Agresti and Coull 1998, on families): so
    families that are all alike are not taken for certain, and partial marks that scatter little count for more than
    their number. The interval holds the plain mean and is never of zero width. ``benchmarks/coverage.py`` simulates
    its coverage beside that of other intervals.
    """
    items = list(samples)
    joined = _joined(items, low, high)
    if joined is None or joined.se is None:
        return None
    scale = high - low
    tasks = max(1.0, (joined.value - low) * (high - joined.value) / joined.se**2 - len(PSEUDO_FAMILIES))
    below, above = wilson((clustered_mean(items).value - low) / scale, tasks)
    return max(low, low + scale * below), min(high, low + scale * above)


def addable(samples: Iterable[Sample], *, low: float = 0.0, high: float = 100.0) -> Span | None:
    """Return the limits of a section whose distances :func:`weighted_sum` adds; None with fewer than two families.

    Student's t on the sample with the two pseudo-families of :func:`bounded`, cut to the scale. It is wider near the
    ends than Wilson's interval, and has to be: where Wilson's distances of four sections are added, a sum near an end
    is covered in 90% of runs.
    """
    joined = _joined(list(samples), low, high)
    return None if joined is None else interval(joined, low=low, high=high)


def _joined(items: list[Sample], low: float, high: float) -> Estimate | None:
    """Return the mean with one family more at either end of the scale; None with fewer than two families."""
    families = len({item.family for item in items})
    if families < 2:
        return None
    weight = math.fsum(item.weight for item in items) / families
    lowest, highest = PSEUDO_FAMILIES
    return clustered_mean([*items, Sample(lowest, low, weight), Sample(highest, high, weight)])


def wilson(share: float, number: float) -> Span:
    """Return Wilson's 95% score interval of a share seen in ``number`` tries, which need not be a whole number."""
    squared = student_t_quantile(math.inf) ** 2
    wider = 1.0 + squared / number
    middle = (share + squared / (2.0 * number)) / wider
    spread = max(0.0, share * (1.0 - share)) / number + squared / (4.0 * number**2)
    half = math.sqrt(squared * spread) / wider
    return min(share, middle - half), max(share, middle + half)


def around_zero(samples: Iterable[Sample], *, low: float = -math.inf, high: float = math.inf) -> Span | None:
    """Return the 95% Student-t interval of a mean of values without bounds, such as skill, cut to ``low``, ``high``.

    Where all values are equal, but for dust, Student's t knows nothing (an agent that never traded, or failed each
    time): then it is the interval of :func:`bounded` on the 0-100 scale, what so many equal windows cannot exclude.

    Raises
    ------
    ValueError
        Without samples.
    """
    items = list(samples)
    estimate = clustered_mean(items)
    if not without_spread(estimate) and (estimate.se is None or estimate.se >= NO_SPREAD):
        return interval(estimate, low=low, high=high)
    span = bounded(items, low=min(0.0, estimate.value), high=max(100.0, estimate.value))
    return None if span is None else (max(low, span[0]), min(high, span[1]))


def weighted_sum(parts: Sequence[Part]) -> Span | None:
    """Return the 95% interval of ``sum w_i x_i`` of independent parts; None when one that has weight has none.

    The distances from each value to its own limits add in quadrature, below and above apart (the method of variance
    estimates recovery, MOVER: Zou and Donner 2008, "Construction of confidence limits about effect measures"), so that
    lopsided intervals stay lopsided in the sum.
    """
    value = math.fsum(part.weight * part.value for part in parts)
    below, above = 0.0, 0.0
    for weight, middle, span in parts:
        if weight == 0.0:
            continue
        if span is None:
            return None
        below = math.hypot(below, weight * (middle - span[0]))
        above = math.hypot(above, weight * (span[1] - middle))
    return value - below, value + above
