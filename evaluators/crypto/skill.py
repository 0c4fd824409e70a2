"""The crypto score: timing skill after costs, on a scale where no skill is 0 and perfect hindsight is 100."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

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


def judge(timing: Array, cost: Array, available: Available, window: np.ndarray) -> Skill:
    """Return the skill shown in the episodes of one task.

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
    attainable = float(np.mean(available.net / offered))
    if attainable <= 0.0:
        return Skill(0.0, 0.0, 0.0, 0.0, np.zeros(np.unique(window).size))
    scale = 100.0 / attainable
    earned, paid = scale * timing / offered, scale * cost / offered
    windows = np.unique(window)
    by_window = np.array([[earned[window == w].mean(), paid[window == w].mean()] for w in windows])
    timing_points, cost_points = by_window.mean(axis=0)
    value = after_costs(timing_points, cost_points)
    shown = by_window[:, 0] - np.sign(value) * by_window[:, 1]
    samples = value + shown - shown.mean()
    se = float(samples.std(ddof=1) / math.sqrt(len(windows))) if len(windows) > 1 else 0.0
    return Skill(min(value, 100.0), se, float(timing_points), float(cost_points), samples)


def after_costs(timing: float, cost: float) -> float:
    """Return timing less costs where timing pays for them, and 0 where it does not pay, or cost, as much.

    An account without skill has timing 0 on average and pays costs all the same. Were they simply deducted, trading
    at random would score below doing nothing; so costs shrink what timing shows towards 0, from either side.
    """
    return math.copysign(abs(timing) - cost, timing) if abs(timing) > cost else 0.0
