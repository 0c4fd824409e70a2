"""Means of a sweep with their uncertainty, added up shard by shard: memory grows with the windows, not with the seeds.

What is independent decides the standard error. On simulated markets every window and seed is a market of its own. On
candle files the seeds of a window share its prices, and so do windows of several coins at the same time: these are one
family.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from engine.scoring.statistics import Estimate, PairedDifference, Sample, clustered_mean, holm, tested
from engine.sweep.config import SweepConfig

SHOWN = {"log_growth": "log growth", "sharpe": "Sharpe ratio", "max_drawdown": "largest drawdown"}
"""Measures that every report shows, and their words."""
BASELINE = "baseline"
Key = tuple[str, float, str]
"""Transform, severity, strategy."""


class Running:
    """A mean and its standard error over values that arrive in blocks; values that are not finite do not count."""

    def __init__(self) -> None:
        self.count = 0
        self._mean = self._squares = 0.0
        self._families: dict[str, tuple[float, int]] = {}

    def add(self, values: np.ndarray, *, family: str | None) -> None:
        """Add values ``[n]``; ``family`` names what they share, None when each stands alone."""
        values = values[np.isfinite(values)]
        size = values.size
        if not size:
            return
        if family is not None:
            total, count = self._families.get(family, (0.0, 0))
            self._families[family] = total + math.fsum(values), count + size
        mean = float(values.mean())
        step, both = mean - self._mean, self.count + size
        # Chan, Golub and LeVeque 1983: merging keeps the digits that a difference of large sums would lose
        self._squares += float(((values - mean) ** 2).sum()) + step**2 * self.count * size / both
        self._mean += step * size / both
        self.count = both

    def estimate(self) -> Estimate | None:
        """Return the mean with its clustered standard error, None without a value."""
        if not self.count:
            return None
        if self._families:
            return clustered_mean(
                Sample(name, total / count, float(count)) for name, (total, count) in self._families.items()
            )
        if self.count < 2:
            return Estimate(self._mean, None, None)
        se = math.sqrt(self._squares / (self.count - 1) / self.count)
        return Estimate(self._mean, se, float(self.count - 1))


def measures_of(config: SweepConfig) -> dict[str, str]:
    """Return the measures that the report of a sweep shows, and their words."""
    return SHOWN | {row.title: row.title.replace("_", " ") for row in config.metrics if row.title not in SHOWN}


class Comparison(NamedTuple):
    """One strategy under one transform against the same strategy on the same markets unchanged.

    Attributes
    ----------
    strategy, transform, severity
        What is compared.
    paired
        Difference of mean log growth, its standard error and p value.
    p_adjusted
        By Holm over all comparisons of the sweep; None without a p value.
    """

    strategy: str
    transform: str
    severity: float
    paired: PairedDifference
    p_adjusted: float | None


class Means:
    """The means of each transform, severity and strategy, and their differences from the baseline.

    Parameters
    ----------
    config
        The sweep.
    families
        Name of what each window shares with others ``[windows]``; None when every window and seed stands alone.
    """

    def __init__(self, config: SweepConfig, families: Sequence[str] | None) -> None:
        self._config = config
        self._families = families
        self._measures: dict[tuple[Key, str], Running] = defaultdict(Running)
        self._differences: dict[Key, Running] = defaultdict(Running)
        self._ruined: dict[Key, int] = defaultdict(int)

    def add(self, frame: Any) -> None:
        """Add the rows of one shard: one window, a block of seeds, everything else."""
        family = None if self._families is None else self._families[int(frame["window"].iloc[0])]
        present = [name for name in measures_of(self._config) if name in frame.columns]
        growth: dict[Key, np.ndarray] = {}
        for found, part in frame.groupby(["transform", "severity", "strategy"], sort=False, observed=True):
            key: Key = (str(found[0]), float(found[1]), str(found[2]))
            for name in present:
                self._measures[key, name].add(part[name].to_numpy(dtype=float), family=family)
            growth[key] = part["log_growth"].to_numpy(dtype=float)
            self._ruined[key] += int(np.isneginf(growth[key]).sum())
        for key, values in growth.items():
            same_market = (BASELINE, key[1], key[2])
            if key[0] != BASELINE and same_market in growth:
                unchanged = growth[same_market]
                both = np.isfinite(values) & np.isfinite(unchanged)
                self._differences[key].add(values[both] - unchanged[both], family=family)

    def estimate(self, key: Key, name: str) -> Estimate | None:
        """Return a mean with its uncertainty, None where no cell has a value."""
        return self._measures[key, name].estimate()

    def mean(self, key: Key, name: str) -> float:
        """Return a mean, NaN where no cell has a value."""
        found = self.estimate(key, name)
        return math.nan if found is None else found.value

    def ruined(self) -> list[tuple[Key, int]]:
        """Return where accounts lost everything, and how many: log growth minus infinity, which no mean counts."""
        return [(key, count) for key, count in self._ruined.items() if count]

    def table(self) -> list[dict[str, Any]]:
        """Return the means of the measures that the config names, a row for each strategy, transform and severity."""
        keys: list[Key] = [
            (transform.title, severity, strategy.title)
            for strategy in self._config.strategies
            for transform in self._config.transforms
            for severity in self._config.severities
        ]
        found = [(row.title, key, self.estimate(key, row.title)) for row in self._config.metrics for key in keys]
        return [
            {
                "metric": metric,
                "strategy": strategy,
                "transform": transform,
                "severity": severity,
                "mean": None if each is None else each.value,
                "se": None if each is None else each.se,
            }
            for metric, (transform, severity, strategy), each in found
        ]

    def comparisons(self) -> list[Comparison]:
        """Return every paired difference from the baseline, in the order of the config."""
        keys: list[Key] = [
            (transform.title, severity, strategy.title)
            for strategy in self._config.strategies
            for transform in self._config.transforms
            for severity in self._config.severities
        ]
        found = [
            (key, tested(estimate, n=self._differences[key].count))
            for key in keys
            if key in self._differences and (estimate := self._differences[key].estimate()) is not None
        ]
        adjusted = iter(holm([each.p_value for _, each in found if each.p_value is not None]))
        return [
            Comparison(key[2], key[0], key[1], each, None if each.p_value is None else next(adjusted))
            for key, each in found
        ]


def families_of(config: SweepConfig) -> list[str] | None:
    """Return what the windows of a sweep on candle files share: the stretch of time they begin in; None on simulations.

    Prices of different coins at the same time move together, so windows of one time count as one.
    """
    if config.data is None:
        return None
    from engine.sweep.shard import real_windows

    length = config.bars * config.bar_seconds
    return [str(int(float(market.time[0]) // length)) for market in real_windows(config)]
