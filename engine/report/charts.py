"""The pictures of the report, as SVG text drawn by matplotlib; each function takes plain numbers."""

from __future__ import annotations

import contextlib
import io
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from engine.report.remarks import points

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

INK = "#1f2937"
MUTED = "#6b7280"
GRID = "#e5e7eb"
ACCENT = "#2563eb"
SERIES = ("#2563eb", "#d97706", "#059669", "#db2777", "#7c3aed", "#0891b2", "#4d7c0f", "#b91c1c")

STYLE: Any = {
    "svg.fonttype": "none",
    "svg.hashsalt": "traderbench",
    "font.family": "sans-serif",
    "font.sans-serif": ["system-ui", "Segoe UI", "Helvetica", "Arial", "DejaVu Sans", "sans-serif"],
    "font.size": 10,
    "text.color": INK,
    "axes.labelcolor": MUTED,
    "axes.edgecolor": GRID,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "xtick.color": MUTED,
    "ytick.color": INK,
    "grid.color": GRID,
    "figure.facecolor": "none",
    "axes.facecolor": "none",
}


def readable(name: str) -> str:
    """Return an identifier as words for a reader: ``options_trading`` -> ``Options trading``."""
    words = name.replace("_", " ").strip()
    return words[:1].upper() + words[1:]


@contextlib.contextmanager
def figure(width: float, height: float, *, polar: bool = False) -> Iterator[tuple[Figure, Axes, list[str]]]:
    """Yield a figure and its axes; the list holds the SVG text afterwards."""
    import matplotlib
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    drawn: list[str] = []
    with matplotlib.rc_context(STYLE):
        drawing = Figure(figsize=(width, height), layout="constrained")
        FigureCanvasSVG(drawing)
        axes = drawing.add_subplot(projection="polar" if polar else None)
        yield drawing, axes, drawn
        buffer = io.StringIO()
        drawing.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None})
    text = buffer.getvalue()
    drawn.append(text[text.index("<svg") :])


def intervals(rows: Sequence[tuple[str, float | None, tuple[float, float] | None]]) -> str:
    """Return horizontal bars on the 0-100 scale with their 95% intervals, first row on top.

    The values stand in a column beside the scale, where none can be read as a position; ``n/a`` has no bar.
    """
    with figure(6.4, 0.5 + 0.46 * len(rows)) as (_, axes, drawn):
        places = range(len(rows))
        axes.barh(places, [value or 0.0 for _, value, _ in rows], height=0.56, color=ACCENT, alpha=0.85)
        beside = axes.get_yaxis_transform()
        for place, (_, value, span) in zip(places, rows, strict=True):
            if span is not None:
                axes.plot(span, (place, place), color=INK, linewidth=1.6, solid_capstyle="butt")
                axes.plot(span, (place, place), "|", color=INK, markersize=8)
            axes.text(1.09, place, points(value), transform=beside, ha="right", va="center", fontweight="bold")
        axes.set_yticks(list(places), [readable(name) for name, _, _ in rows], parse_math=False)
        axes.set_xlim(0, 100)
        axes.set_xticks(range(0, 101, 20))
        axes.invert_yaxis()
        axes.tick_params(length=0)
        axes.grid(axis="x")
        axes.set_axisbelow(True)
    return drawn[0]


def radar(values: Mapping[str, float | None]) -> str:
    """Return the capability profile: one axis a section, 0 in the middle, 100 at the rim.

    A section without a score has a named axis and no point, and the outline is open there.
    """
    with figure(5.2, 4.2, polar=True) as (_, axes, drawn):
        names = list(values)
        angles = [2.0 * math.pi * i / len(names) for i in range(len(names))]
        heights = [math.nan if value is None else value for value in values.values()]
        polar: Any = axes
        polar.set_theta_offset(math.pi / 2)
        polar.set_theta_direction(-1)
        if None not in values.values():
            polar.fill([*angles, angles[0]], [*heights, heights[0]], color=ACCENT, alpha=0.18)
        polar.plot([*angles, angles[0]], [*heights, heights[0]], color=ACCENT, linewidth=2)
        polar.scatter(angles, heights, color=ACCENT, s=18, zorder=3)
        polar.set_ylim(0, 100)
        polar.set_yticks([20, 40, 60, 80, 100], ["", "40", "", "80", ""])
        titles = [readable(name).replace(" ", "\n", 1) for name in names]
        marked = [title + ("\nn/a" if values[name] is None else "") for title, name in zip(titles, names, strict=True)]
        polar.set_xticks(angles, marked)
        polar.tick_params(axis="x", pad=8)
        for label, angle in zip(polar.get_xticklabels(), angles, strict=True):
            # outwards from the ring: what stands beside it would run into it if it were centred on its axis
            label.set_horizontalalignment(_outwards(math.sin(angle), "left", "center", "right"))
            label.set_verticalalignment(_outwards(math.cos(angle), "bottom", "center", "top"))
        polar.tick_params(axis="y", labelcolor=MUTED, labelsize=8)
        polar.spines["polar"].set_color(GRID)
    return drawn[0]


def _outwards(side: float, above: str, level: str, below: str) -> str:
    return level if abs(side) < 0.1 else above if side > 0.0 else below


def bars(values: Mapping[str, float], *, unit: str, maximum: float | None = None) -> str:
    """Return one vertical bar for each named value, on an axis of whole numbers from 0."""
    from matplotlib.ticker import MaxNLocator

    with figure(max(3.2, 1.0 * len(values) + 1.2), 2.9) as (_, axes, drawn):
        places = range(len(values))
        axes.bar(places, list(values.values()), width=0.6, color=ACCENT, alpha=0.85)
        for place, value in zip(places, values.values(), strict=True):
            axes.text(place, max(value, 0.0), f"{value:.1f}".removesuffix(".0"), ha="center", va="bottom")
        axes.set_xticks(list(places), [readable(name) for name in values])
        axes.set_ylabel(unit)
        top = maximum or max(values.values(), default=0.0)
        axes.set_ylim(0, 1.08 * top if top > 0.0 else 1.0)
        axes.yaxis.set_major_locator(MaxNLocator(integer=True))
        axes.tick_params(length=0)
        axes.grid(axis="y")
        axes.set_axisbelow(True)
        axes.axhline(0.0, color=MUTED, linewidth=0.8)
    return drawn[0]


def comparison(rows: Sequence[tuple[str, float, tuple[float, float] | None]], *, unit: str) -> str:
    """Return points with their 95% intervals, one for each name, on a common axis with 0 marked."""
    with figure(5.2, 3.0) as (_, axes, drawn):
        for place, (_, value, span) in enumerate(rows):
            reach = None if span is None else [[value - span[0]], [span[1] - value]]
            axes.errorbar(place, value, yerr=reach, fmt="o", color=SERIES[place % len(SERIES)], capsize=5, markersize=7)
            axes.annotate(
                f"{round(value, 1) + 0.0:.1f}", (place, value), xytext=(9, 0), textcoords="offset points", va="center"
            )
        axes.set_xticks(range(len(rows)), [readable(name) for name, _, _ in rows])
        axes.set_xlim(-0.5, len(rows) - 0.3)
        axes.set_ylabel(unit)
        axes.axhline(0.0, color=MUTED, linewidth=0.8)
        axes.tick_params(length=0)
        axes.grid(axis="y")
        axes.set_axisbelow(True)
    return drawn[0]


def curves(series: Mapping[str, Sequence[Sequence[float]]], *, unit: str) -> str:
    """Return equity curves: thin lines for the episodes of each name, a thick one for their mean."""
    with figure(6.4, 3.2) as (_, axes, drawn):
        for color, (name, paths) in zip(SERIES * 4, series.items(), strict=False):
            shortest = min(len(path) for path in paths)
            for path in paths:
                axes.plot(path[:shortest], color=color, alpha=0.35, linewidth=0.8)
            mean = [math.fsum(path[i] for path in paths) / len(paths) for i in range(shortest)]
            axes.plot(mean, color=color, linewidth=2.2, label=readable(name))
        axes.axhline(1.0, color=MUTED, linewidth=0.8)
        axes.set_xlabel("bar")
        axes.set_ylabel(unit)
        axes.grid()
        axes.set_axisbelow(True)
        axes.legend(frameon=False, ncols=2, fontsize=9)
    return drawn[0]
