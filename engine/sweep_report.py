"""The report of a sweep: heat maps and robustness curves in one HTML file that needs no network."""

from __future__ import annotations

import html
import io
import math
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from engine.sweep_config import SweepConfig
from engine.sweep_store import shard_files

MEASURES = {"log_growth": "log growth", "sharpe": "Sharpe ratio", "max_drawdown": "largest drawdown"}
Key = tuple[str, float, str]


class Means:
    """Running means of the measures of each transform, severity and strategy; memory does not grow with the cells."""

    def __init__(self) -> None:
        self.count: dict[tuple[Key, str], float] = defaultdict(float)
        self.total: dict[tuple[Key, str], float] = defaultdict(float)
        self.square: dict[tuple[Key, str], float] = defaultdict(float)

    def add(self, frame: Any) -> None:
        """Add the rows of one shard."""
        present = [name for name in MEASURES if name in frame.columns]
        for key, part in frame.groupby(["transform", "severity", "strategy"], sort=False, observed=True):
            for name in present:
                values = part[name].to_numpy(dtype=float)
                values = values[np.isfinite(values)]
                self.count[key, name] += values.size
                self.total[key, name] += float(values.sum())
                self.square[key, name] += float((values**2).sum())

    def mean(self, key: Key, name: str) -> float:
        """Return the mean, NaN without a finite value."""
        count = self.count[key, name]
        return self.total[key, name] / count if count else math.nan

    def error(self, key: Key, name: str) -> float:
        """Return the standard error of the mean, NaN with fewer than two values."""
        count = self.count[key, name]
        if count < 2:
            return math.nan
        variance = max(self.square[key, name] / count - self.mean(key, name) ** 2, 0.0)
        return math.sqrt(variance / (count - 1.0))


def write_report(folder: Path, config: SweepConfig, summary: dict[str, Any]) -> Path:
    """Write ``report.html`` into the folder of a sweep and return its path."""
    import pandas as pd

    means = Means()
    for path in shard_files(folder / "results"):
        means.add(pd.read_parquet(path))
    charts = [heat_map(config, means, name, title) for name, title in MEASURES.items()]
    charts.append(robustness(config, means))
    rows = "".join(f"<tr><th>{html.escape(key)}</th><td>{shown(value)}</td></tr>" for key, value in summary.items())
    style = "body{font:15px system-ui,sans-serif;margin:2rem;max-width:70rem}th{text-align:left;padding-right:2rem}"
    body = (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>Sweep {html.escape(config.name)}</title>'
        f"<style>{style}svg{{max-width:100%;height:auto}}</style><h1>Sweep {html.escape(config.name)}</h1>"
        f"<p>{html.escape(config.description)}</p><table>{rows}</table>"
        + "".join(f"<figure>{chart}</figure>" for chart in charts)
        + "</html>\n"
    )
    target = folder / "report.html"
    target.write_text(body, encoding="utf-8")
    return target


def shown(value: Any) -> str:
    """Return a value as a reader wants it."""
    if isinstance(value, float):
        return f"{value:,.2f}" if abs(value) < 1e5 else f"{value:,.0f}"
    return html.escape(f"{value:,}" if isinstance(value, int) else str(value))


def heat_map(config: SweepConfig, means: Means, name: str, title: str) -> str:
    """Return the mean of one measure by strategy and market condition, as SVG."""
    columns = [(transform, severity) for transform in config.transforms for severity in config.severities]
    strategies = [choice.title for choice in config.strategies]
    grid = np.array([[means.mean((t, s, strategy), name) for t, s in columns] for strategy in strategies])

    def draw(axes: Any) -> None:
        reach = float(np.nanmax(np.abs(grid))) if np.isfinite(grid).any() else 1.0
        axes.imshow(grid, cmap="RdBu", vmin=-reach, vmax=reach, aspect="auto")
        axes.set_xticks(range(len(columns)), [f"{t}\n×{s:g}" for t, s in columns], fontsize=8)
        axes.set_yticks(range(len(strategies)), strategies, fontsize=8)
        for (row, column), value in np.ndenumerate(grid):
            axes.text(
                column, row, f"{value:.2f}" if math.isfinite(value) else "–", ha="center", va="center", fontsize=7
            )
        axes.set_title(f"Mean {title}")

    return svg(draw, width=2.5 + 1.1 * len(columns), height=1.2 + 0.32 * len(strategies))


def robustness(config: SweepConfig, means: Means) -> str:
    """Return log growth against severity (or against the condition, when there is one severity), as SVG."""
    several = len(config.severities) > 1

    def draw(axes: Any) -> None:
        points: list[tuple[float | str, list[Key]]]
        for choice in config.strategies:
            if several:
                others = [transform for transform in config.transforms if transform != "baseline"] or config.transforms
                points = [(s, [(t, s, choice.title) for t in others]) for s in config.severities]
            else:
                points = [(t, [(t, config.severities[0], choice.title)]) for t in config.transforms]
            x = [point[0] for point in points]
            y = [float(np.mean([means.mean(key, "log_growth") for key in keys])) for _, keys in points]
            e = [float(np.mean([means.error(key, "log_growth") for key in keys])) for _, keys in points]
            axes.errorbar(x, y, yerr=np.nan_to_num(1.96 * np.array(e)), marker="o", capsize=2, label=choice.title)
        axes.axhline(0.0, color="0.6", linewidth=0.8)
        axes.set_xlabel("severity" if several else "market condition")
        axes.set_ylabel("mean log growth, 95% interval")
        axes.set_title("Robustness")
        axes.legend(fontsize=7, loc="center left", bbox_to_anchor=(1.0, 0.5))

    return svg(draw, width=9.0, height=4.2)


def svg(draw: Callable[[Any], None], *, width: float, height: float) -> str:
    """Return the SVG element of a figure that ``draw`` fills; sizes in inches."""
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasSVG(figure)
    draw(figure.add_subplot())
    buffer = io.StringIO()
    figure.savefig(buffer, format="svg")
    text = buffer.getvalue()
    return text[text.index("<svg") :]
