"""The crypto score: timing skill after costs, on a scale where no skill is 0 and perfect hindsight is 100.

The timing of each bar, a mean over all windows of the task, counts with a share ``g[k]`` from 0 to 1::

    value = sum over bars of  g[k] timing[k]
    g[k]  = 1 - debt[k] / |mean timing of the bars before|,  cut to [0, 1];  g[0] = 1
    debt[k] = (costs of the bars before) - |sum over the bars before of (1 - g) timing|

So costs are paid out of timing: a bar gives up what is owed, as far as a typical bar has covered it so far. A trader
whose timing exceeds his costs ends with timing less costs, whenever the costs fell due.

Why no agent without skill can gain. All windows of a task are played side by side: every order of a decision is in
before any return of its bars is shown, in one message or in many. ``g[k]`` depends only on bars before ``k``, which
the agent may know, and on the weights of the windows. Without skill the timing of bar ``k`` has expectation 0 given all
of that, whatever the exposures, so each product has, and so has their sum: no scheme of stakes, stopping or wasted
costs that reacts to gains and losses has an expectation other than 0 (a martingale transform; Doob's optional stopping
is the special case of ``g`` 1, then 0). A function of the final sums, such as ``hypot(T, C) - C``, lacks this: costs
made on purpose while behind would shrink losses and leave gains. (The weights, sums of absolute returns, are of the
whole window; they know sizes of returns, not signs.)
"""

from __future__ import annotations

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


def window_points(
    timing: Array, cost: Array, largest: Array, available: Available, window: npt.NDArray[np.int64]
) -> Array:
    """Return points of timing and of cost, ``[bars, windows, 2]``: 100 is what perfect hindsight nets on average here.

    Each bar is divided by the largest exposure up to that bar. That number is known before the bar's return is, so it
    cannot be chosen to flatter a result, and multiplying all sizes by a constant changes nothing. Each episode counts
    relative to the sum of absolute returns of its own market, so that a wild window does not outweigh a calm one; the
    common factor is the share of that sum that perfect hindsight keeps after costs.

    Parameters
    ----------
    timing, cost, largest
        ``[bars, episodes]``, as in ``evaluators.crypto.play.Measured``.
    available
        What the episodes' markets offered.
    window
        ``[episodes]`` which window each episode comes from (a window and its mirror share one).
    """
    offered = np.where(available.gross > 0.0, available.gross, 1.0)
    best = float(np.mean((available.timing - available.cost) / offered))
    scale = 100.0 / best if best > 0.0 else 0.0
    unit = scale / (np.where(largest > 0.0, largest, 1.0) * offered)
    episodes = np.stack([timing * unit, cost * unit], axis=-1)
    return np.stack([episodes[:, window == each].mean(axis=1) for each in np.unique(window)], axis=1)


def shares(timing: Array, cost: Array) -> Array:
    """Return the share with which each bar's timing counts, ``[bars, ...]``, known before the bar.

    Parameters
    ----------
    timing, cost
        ``[bars, ...]`` in the order in which the bars were played.
    """
    share = np.ones(timing.shape)
    earned, due, paid = (np.zeros(timing.shape[1:]) for _ in range(3))
    for bar in range(1, len(timing)):
        earned += timing[bar - 1]
        due += cost[bar - 1]
        paid += (1.0 - share[bar - 1]) * timing[bar - 1]
        debt = np.maximum(due - np.abs(paid), 0.0)
        typical = np.abs(earned) / bar
        share[bar] = 1.0 - debt / np.maximum(np.maximum(debt, typical), np.finfo(float).tiny)
    return share


def judge(points: Array, families: Sequence[str]) -> Skill:
    """Return the skill shown in windows with ``points`` ``[bars, windows, 2]``, clustered by family for its error.

    The error follows what one window more or less would have changed: its counted timing where costs could not be
    collected, its timing less its costs where they were (more timing there would have been counted in full, because
    the debt would have been paid just the same), and in proportion between.
    """
    by_bar = points.mean(axis=1)
    share = shares(by_bar[:, 0], by_bar[:, 1])
    counted = share @ points[:, :, 0]
    timing, cost = (float(total) for total in by_bar.sum(axis=0))
    value = float(counted.mean())
    paid = abs(timing - value)
    collected = min(paid / cost, 1.0) if cost > 0.0 else 1.0
    net = points[:, :, 0].sum(axis=0) - np.sign(timing) * points[:, :, 1].sum(axis=0)
    shown = counted + collected * (net - counted)
    samples = value + shown - shown.mean()
    return Skill(min(value, 100.0), clustered_error(samples, families), timing, cost, samples)


def clustered_error(samples: Array, families: Sequence[str]) -> float:
    """Return the standard error of the mean of samples that may share families; 0 with fewer than two families."""
    names, index = np.unique(np.asarray(families), return_inverse=True)
    if names.size < 2:
        return 0.0
    sums = np.bincount(index, weights=samples - samples.mean())
    return float(np.sqrt(names.size / (names.size - 1) * (sums**2).sum()) / samples.size)
