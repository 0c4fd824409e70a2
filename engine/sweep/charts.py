"""The pictures of a sweep's report, as SVG text."""

from __future__ import annotations

import math

import numpy as np

from engine.report.charts import GRID, MUTED, SERIES, figure
from engine.scoring.statistics import Estimate, student_t_quantile
from engine.sweep.config import SweepConfig
from engine.sweep.means import BASELINE, Means, measures_of

DARK = 0.179
"""Relative luminance under which white text contrasts more than black (WCAG 2.2: (L + 0.05)^2 = 0.05 x 1.05)."""
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")


def half_width(estimate: Estimate | None) -> float:
    """Return half the 95% interval; NaN, which draws nothing, where there is none."""
    if estimate is None or estimate.se is None or estimate.degrees_of_freedom is None:
        return math.nan
    return student_t_quantile(estimate.degrees_of_freedom) * estimate.se


def luminance(color: tuple[float, ...]) -> float:
    """Return the relative luminance of an sRGB colour, 0 black to 1 white (WCAG 2.2)."""
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in color[:3]]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def text_color(background: tuple[float, ...]) -> str:
    """Return the text colour, black or white, that reads better on a background."""
    return "#ffffff" if luminance(background) < DARK else "#000000"


def number(value: float) -> str:
    """Return two decimals; what rounds to 0 has no sign, and a missing value is a dash."""
    return f"{round(value, 2) + 0.0:.2f}" if math.isfinite(value) else "–"


def heat_map(config: SweepConfig, means: Means, name: str) -> str:
    """Return the mean of one measure by strategy and market condition."""
    import matplotlib

    columns = [
        (row.title, severity)
        for row in config.transforms
        for severity in (config.severities if row.title != BASELINE else config.severities[:1])
    ]
    strategies = [row.title for row in config.strategies]
    grid = np.array([[means.mean((t, s, strategy), name) for t, s in columns] for strategy in strategies])
    reach = float(np.nanmax(np.abs(grid))) if np.isfinite(grid).any() else 1.0
    colors = matplotlib.colormaps["RdBu_r" if name == "max_drawdown" else "RdBu"]
    with figure(2.2 + 0.85 * len(columns), 0.9 + 0.34 * len(strategies)) as (_, axes, drawn):
        axes.imshow(grid, cmap=colors, vmin=-(reach or 1.0), vmax=reach or 1.0, aspect="auto")
        labels = [t if t == BASELINE or len(config.severities) == 1 else f"{t}\n×{s:g}" for t, s in columns]
        axes.set_xticks(range(len(columns)), labels, fontsize=9)
        axes.set_yticks(range(len(strategies)), strategies)
        axes.tick_params(length=0)
        axes.spines[:].set_visible(False)
        for (row, column), value in np.ndenumerate(grid):
            finite = math.isfinite(value)
            shade = colors(0.5 + 0.5 * value / reach if reach else 0.5) if finite else (1.0, 1.0, 1.0)
            axes.text(column, row, number(value), ha="center", va="center", fontsize=9, color=text_color(shade))
        axes.set_title(f"Mean {measures_of(config)[name]}", fontsize=11)
    return drawn[0]


def conditions(config: SweepConfig, means: Means, severity: float) -> str:
    """Return mean log growth with 95% intervals, a row for each strategy, the transforms side by side in it."""
    transforms, strategies = ([row.title for row in rows] for rows in (config.transforms, config.strategies))
    pitch = 0.7 / len(transforms)
    with figure(8.6, 0.9 + len(strategies) * max(0.42, 0.16 * len(transforms))) as (_, axes, drawn):
        for place, transform in enumerate(transforms):
            found = [means.estimate((transform, severity, strategy), "log_growth") for strategy in strategies]
            axes.errorbar(
                [math.nan if each is None else each.value for each in found],
                [row + pitch * (place - (len(transforms) - 1) / 2) for row in range(len(strategies))],
                xerr=[half_width(each) for each in found],
                fmt=MARKERS[place // len(SERIES) % len(MARKERS)],
                color=SERIES[place % len(SERIES)],
                markersize=5,
                capsize=2,
                linewidth=1.3,
                label=transform,
            )
        for row in range(1, len(strategies)):
            axes.axhline(row - 0.5, color=GRID, linewidth=0.8)
        axes.axvline(0.0, color=MUTED, linewidth=0.8)
        axes.set_yticks(range(len(strategies)), strategies)
        axes.set_ylim(len(strategies) - 0.5, -0.5)
        axes.set_xlabel("mean log growth, 95% interval")
        axes.tick_params(length=0)
        axes.grid(axis="x")
        axes.legend(frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5))
    return drawn[0]


def robustness(config: SweepConfig, means: Means, transform: str) -> str:
    """Return mean log growth against the severity of one transform, one line a strategy with 95% intervals.

    Severity 0 is the unchanged market: where the sweep has a baseline, the lines begin there.
    """
    severities: list[float] = sorted(config.severities)
    if any(row.title == BASELINE for row in config.transforms) and 0.0 not in severities:
        severities = [0.0, *severities]
    keys = [(transform, each) if each in config.severities else (BASELINE, config.severities[0]) for each in severities]
    # lines are moved apart a little so that their intervals do not hide one another
    apart = 0.012 * (severities[-1] - severities[0])
    middle = (len(config.strategies) - 1) / 2
    with figure(8.6, 3.4) as (_, axes, drawn):
        for place, row in enumerate(config.strategies):
            found = [means.estimate((*key, row.title), "log_growth") for key in keys]
            axes.errorbar(
                [severity + apart * (place - middle) for severity in severities],
                [math.nan if each is None else each.value for each in found],
                yerr=[half_width(each) for each in found],
                marker=MARKERS[place // len(SERIES) % len(MARKERS)],
                color=SERIES[place % len(SERIES)],
                markersize=5,
                capsize=2,
                linewidth=1.3,
                label=row.title,
            )
        axes.axhline(0.0, color=MUTED, linewidth=0.8)
        axes.set_xticks(severities, [f"{severity:g}" for severity in severities])
        axes.set_xlabel(f"severity of {transform}")
        axes.set_ylabel("mean log growth, 95% interval")
        axes.tick_params(length=0)
        axes.grid()
        axes.set_axisbelow(True)
        axes.legend(frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5))
    return drawn[0]
