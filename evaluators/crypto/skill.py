"""The crypto score: timing skill after costs, on a scale where no skill is 0 and perfect hindsight is 100."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from evaluators.crypto.hindsight import Array, Available


class Skill(NamedTuple):
    """The verdict on one task.

    Attributes
    ----------
    value
        Skill in points, at most 100, not cut at 0.
    se
        Standard error over windows, points.
    timing, cost
        Points before costs, and points of costs.
    samples
        ``[windows]`` contributions of the windows; their mean is ``value`` (before the cut at 100).
    """

    value: float
    se: float
    timing: float
    cost: float
    samples: Array


def per_episode(timing: Array, cost: Array, largest: Array) -> tuple[Array, Array]:
    """Return timing and cost of each episode per unit of the account's own size, ``[episodes]``.

    Each bar is divided by the largest exposure up to that bar. That number is known before the bar's return is, so it
    cannot be chosen to flatter a result, and multiplying all sizes by a constant changes nothing.

    Parameters
    ----------
    timing, cost, largest
        ``[bars, episodes]``, as in ``evaluators.crypto.play.Measured``.
    """
    size = np.where(largest > 0.0, largest, 1.0)
    return (timing / size).sum(axis=0), (cost / size).sum(axis=0)


def window_points(timing: Array, cost: Array, available: Available, window: npt.NDArray[np.int64]) -> Array:
    """Return points of timing and of cost, ``[windows, 2]``: 100 is what perfect hindsight nets on average here.

    Each episode counts relative to the sum of absolute returns of its own market, so that a wild window does not
    outweigh a calm one; the common factor is the share of that sum that perfect hindsight keeps after costs.

    Parameters
    ----------
    timing, cost
        ``[episodes]``, from :func:`per_episode`.
    available
        What the episodes' markets offered.
    window
        ``[episodes]`` which window each episode comes from (a window and its mirror share one).
    """
    offered = np.where(available.gross > 0.0, available.gross, 1.0)
    best = after_costs(float(np.mean(available.timing / offered)), float(np.mean(available.cost / offered)))
    scale = 100.0 / best if best > 0.0 else 0.0
    earned, paid = scale * timing / offered, scale * cost / offered
    return np.array([[earned[window == w].mean(), paid[window == w].mean()] for w in np.unique(window)])


def judge(points: Array, families: Sequence[str]) -> Skill:
    """Return the skill shown in windows with ``points`` ``[windows, 2]``, clustered by family for its error.

    The error is that of the linearised value, with the slope taken no nearer to zero timing than one error of the
    timing itself, where the curve is flat and would promise too much.
    """
    timing, cost = (float(column) for column in points.mean(axis=0))
    value = after_costs(timing, cost)
    sure = max(abs(timing), clustered_error(points[:, 0], families))
    length = math.hypot(sure, cost)
    slopes = np.array([sure, math.copysign(cost - length, timing)]) / (length or 1.0)
    shown = points @ slopes
    samples = value + shown - shown.mean()
    return Skill(min(value, 100.0), clustered_error(samples, families), timing, cost, samples)


def after_costs(timing: float, cost: float) -> float:
    """Return ``sign(timing) * (sqrt(timing^2 + cost^2) - cost)``: timing less the costs of a trader who has some.

    Costs are deducted in full from timing that is large against them, and hardly from none: an account without skill
    has timing 0 on average but pays costs all the same, and were they simply deducted, trading at random would score
    below doing nothing. The curve is odd, so luck to either side cancels, and rises everywhere, so more timing always
    scores more.
    """
    return math.copysign(math.hypot(timing, cost) - cost, timing) if timing else 0.0


def clustered_error(samples: Array, families: Sequence[str]) -> float:
    """Return the standard error of the mean of samples that may share families; 0 with fewer than two families."""
    names, index = np.unique(np.asarray(families), return_inverse=True)
    if names.size < 2:
        return 0.0
    sums = np.bincount(index, weights=samples - samples.mean())
    return float(np.sqrt(names.size / (names.size - 1) * (sums**2).sum()) / samples.size)
