"""The crypto score: timing skill after costs, on a scale where no skill is 0 and perfect hindsight is 100.

The timing of each bar, a mean over all windows of the task, counts with a share ``g[k]`` from 0 to 1::

    value = sum over bars of  g[k] timing[k]
    g[k]  = 1 - debt[k] / |mean timing of the bars before|,  cut to [0, 1];  g[0] = 1
    debt[k] = (costs of the bars before) - |sum over the bars before of (1 - g) timing|

So costs are paid out of timing: a bar gives up what is owed, as far as a typical bar has covered it so far. A trader
whose timing exceeds his costs ends with timing less costs, whenever the costs fell due.

Why no agent without skill can gain. All windows of a task are played side by side: every order of a decision is in
before any return of its bars is shown, in one message or in many. On fair markets the log-return of a bar has
expectation 0 given everything before it, the hidden state and which image is the mirror included. Whatever multiplies
it is known before it: the exposure, the largest exposure so far, the usual move of the window (of the bars before the
first decision), ``g[k]`` (of the timing and costs of the bars before), and the window's scale (of the other windows of
the task alone, which are independent of it). So each product has expectation 0, and so has their sum: no scheme of
stakes, stopping or wasted costs that reacts to gains and losses has another (a martingale transform; Doob's optional
stopping is the special case of ``g`` 1, then 0).

What would break it: a function of the final sums, such as ``hypot(T, C) - C``, for costs made on purpose while behind
would shrink losses and leave gains; and a unit that knows the bars to come, such as the sum of their absolute returns,
for after a rise the moves are smaller than after a fall, so that a rise would count for more.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from evaluators.clusters import clustered_error
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
    points
        ``[windows, 2]`` timing and cost of the windows.
    """

    value: float
    se: float
    timing: float
    cost: float
    samples: Array
    points: Array


def moves(timing: Array, cost: Array, usual: Array, window: npt.NDArray[np.int64]) -> Array:
    """Return timing and cost of each window in usual moves, ``[bars, windows, 2]``.

    A usual move is that of the window before it is played, so that a wild window does not outweigh a calm one.

    Parameters
    ----------
    timing, cost
        ``[bars, episodes]`` per unit of the largest exposure so far.
    usual
        ``[episodes]`` as ``evaluators.crypto.hindsight.usual_move`` returns it; 0 gives 0.
    window
        ``[episodes]`` which window each episode comes from (a window and its mirror share one).
    """
    unit = np.where(usual > 0.0, 1.0 / np.where(usual > 0.0, usual, 1.0), 0.0)
    return by_window(np.stack([timing * unit, cost * unit], axis=-1), window)


def best_moves(available: Available, usual: Array, window: npt.NDArray[np.int64]) -> Array:
    """Return what perfect hindsight nets in each window, usual moves ``[windows]``."""
    net = moves(available.timing[None], available.cost[None], usual, window)[0]
    return np.asarray(net[:, 0] - net[:, 1])


def by_window(episodes: Array, window: npt.NDArray[np.int64]) -> Array:
    """Return ``[bars, windows, ...]``, the means over the episodes of each window, of ``[bars, episodes, ...]``."""
    return np.stack([episodes[:, window == each].mean(axis=1) for each in np.unique(window)], axis=1)


def scales(best: Array) -> Array:
    """Return the points of a usual move in each window: 100 is what hindsight nets in the **other** windows on average.

    Of the other windows, because a window's own best path is of its future. The mean over windows of what hindsight
    nets, so scaled, is at least 100 (``x / (s - x)`` is convex), and some ``100 cv^2 / windows`` more.

    Raises
    ------
    ValueError
        When there is one window alone.
    """
    if best.size < 2:
        raise ValueError(f"the crypto score needs at least 2 windows to set its scale, got {best.size}")
    others = (best.sum() - best) / (best.size - 1)
    return np.where(others > 0.0, 100.0 / np.where(others > 0.0, others, 1.0), 0.0)


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


def judge(
    windows: Array, best: Array, families: Sequence[str], *, unit: Callable[[Array], Array] | None = None
) -> Skill:
    """Return the skill shown, with its error clustered by family.

    The error follows what one window more or less would have changed: its counted timing where costs could not be
    collected, its timing less its costs where they were (more timing there would have been counted in full, because
    the debt would have been paid just the same), and in proportion between. A window that offers more than others
    moves the scale as well: who earns a share of what every window offers is hardly uncertain (ratio estimator).

    Parameters
    ----------
    windows
        Timing and cost ``[bars, windows, 2]``, usual moves.
    best
        ``[windows]`` what perfect hindsight nets, usual moves.
    families
        One label a window.
    unit
        What makes of ``best`` the points of a usual move in each window; :func:`scales` unless told.
    """
    # Shares before scales: a scale knows the future of the other windows, a share must not.
    by_bar = windows.mean(axis=1)
    share = shares(by_bar[:, 0], by_bar[:, 1])
    points = windows * (unit or scales)(best)[:, None]
    counted = share @ points[:, :, 0]
    totals = points.sum(axis=0)
    timing, cost = (float(total) for total in totals.mean(axis=0))
    value = float(counted.mean())
    paid = abs(timing - value)
    collected = min(paid / cost, 1.0) if cost > 0.0 else 1.0
    net = totals[:, 0] - np.sign(timing) * totals[:, 1]
    offered = best / best.mean() - 1.0 if best.mean() > 0.0 else np.zeros(best.size)
    shown = counted + collected * (net - counted) - value * offered
    samples = value + shown - shown.mean()
    return Skill(min(value, 100.0), error_of_mean(samples, families), timing, cost, samples, totals)


def error_of_mean(samples: Array, families: Sequence[str]) -> float:
    """Return the standard error of the mean of samples that may share families; 0 with fewer than two families."""
    residuals = ((samples - samples.mean()) / samples.size).tolist()
    return clustered_error(zip(families, residuals, strict=True))[0] or 0.0
