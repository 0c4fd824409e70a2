"""A learner that fits on what was shown, as an agent in the sandbox would: numpy, and nothing of the simulator."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]

MEMORY = 0.9
LAGS = 8
LEAST_T = 2.8
"""Of some sixty signals that say nothing one in 200 looks like this by luck; two or three enter a fit."""
RIDGE = 8.0
"""In bars: what a fit of standardised signals is shrunk by."""


def lagged(series: Array, lag: int) -> Array:
    """Return the series ``lag`` bars ago, ``[bars]``: 0 before the first."""
    return np.concatenate([np.zeros(lag), series[:-lag]])


def usual_sizes(change: Array) -> Array:
    """Return the usual size of a return before each bar."""
    sizes = np.empty_like(change)
    sizes[0] = usual = np.abs(change[:24]).mean() * 1.25
    for bar in range(len(change) - 1):
        usual = MEMORY * usual + (1.0 - MEMORY) * min(1.25 * abs(change[bar]), 4.0 * usual)
        sizes[bar + 1] = usual
    return sizes


def signals(change: Array, sizes: Array, channels: dict[str, Array], hours: npt.NDArray[np.int64]) -> Array:
    """Return what may explain each bar, ``[bars, signals]``, of the bars before it alone."""
    surprise = np.clip(change / sizes, -1.5, 1.5)
    premium = channels["premium"]
    before = lagged(premium, 1)
    news = premium - before * (premium @ before) / (before @ before)
    level = np.cumsum(change)
    highest, lowest = (
        np.stack([lagged(level, back) for back in range(1, 5)]).max(axis=0),
        np.stack([lagged(level, back) for back in range(1, 5)]).min(axis=0),
    )
    broken = np.clip((np.maximum(level - highest, 0.0) - np.maximum(lowest - level, 0.0)) / (0.4 * sizes), -1.0, 1.0)
    flow, book, leader = channels["flow"], channels["book"], channels["leader"]
    size = np.abs(change / sizes)
    larger = np.sign(change) * np.clip(1.5 * (size - np.median(size)), -1.0, 1.0)
    sides = [np.sign(series) for series in (change, flow, book, leader)]
    found = [lagged(surprise, lag) for lag in range(1, LAGS + 3)]
    found += [lagged(series, lag) for series in (larger, broken) for lag in range(1, 7)]
    found += [lagged(series, lag) for series in (flow, book, leader, news, channels["news"]) for lag in range(1, 4)]
    found += [lagged(one * other, lag) for one, other in combinations(sides, 2) for lag in (1, 2)]
    agreed = np.sign(change) * lagged(sides[1], 1)
    lately = np.zeros_like(change)
    for bar in range(1, len(change)):
        lately[bar] = 0.85 * lately[bar - 1] + 0.15 * agreed[bar]
    found.append(lagged(lately * sides[1], 1))
    total, seen, hourly = np.zeros(24), np.zeros(24), np.zeros_like(change)
    for bar in range(len(change)):
        hour = hours[bar]
        hourly[bar] = total[hour] / (seen[hour] + 3.0)
        total[hour] += surprise[bar]
        seen[hour] += 1.0
    found.append(hourly)
    return np.stack(found, axis=1)


def forecasts(
    open_: Array, close: Array, channels: dict[str, Array], hours: npt.NDArray[np.int64], first: int
) -> Array:
    """Return the expected log-return of each bar from ``first`` on, fitted anew before each on all bars before it."""
    change = np.log(close / np.concatenate([open_[:1], close[:-1]]))
    move = np.log(close / open_)
    sizes = usual_sizes(change)
    every = signals(change, sizes, channels, hours)
    target = np.clip(move / sizes, -2.5, 2.5)
    expected = np.zeros(len(change) - first)
    for bar in range(first, len(change)):
        known, answer = every[LAGS:bar], target[LAGS:bar]
        spread = np.sqrt((known**2).mean(axis=0))
        scaled = known / np.where(spread > 0.0, spread, 1.0)
        t = scaled.T @ answer / np.sqrt(len(answer) * answer.var())
        kept = np.abs(t) >= min(LEAST_T, np.abs(t).max())
        chosen = scaled[:, kept]
        weights = np.linalg.solve(chosen.T @ chosen + RIDGE * np.eye(int(kept.sum())), chosen.T @ answer)
        expected[bar - first] = sizes[bar] * float((every[bar, kept] / spread[kept]) @ weights)
    return expected
