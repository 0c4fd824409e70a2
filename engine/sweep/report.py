"""The report of a sweep: comparisons, heat maps and robustness curves in one HTML file that needs no network."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from engine import report
from engine.scoring.statistics import minimum_detectable_difference
from engine.sweep import charts as sweep_charts
from engine.sweep.config import SweepConfig
from engine.sweep.means import BASELINE, Comparison, Means, families_of, measures_of
from engine.sweep.store import shard_files

FACTS = {
    "cells": "Backtests",
    "bar_steps": "Bar-steps",
    "seconds": "Seconds of computing, compilation apart",
    "compile_seconds": "Seconds of compilation",
    "bar_steps_per_second": "Bar-steps a second",
    "peak_memory_mib": "Peak memory, MiB",
    "shards": "Shards",
    "shards_reused": "Shards found finished",
    "backend": "Backend",
    "results": "Results",
}
"""What a summary says, and its words."""
FEW_FAMILIES = 10
LEVEL = 0.05
TEMPLATE = "sweep.html.j2"


def means_of(folder: Path, config: SweepConfig) -> Means:
    """Return the means of a stored sweep."""
    import pandas as pd

    means = Means(config, families_of(config))
    for path in shard_files(folder / "results"):
        means.add(pd.read_parquet(path))
    return means


def write_report(folder: Path, config: SweepConfig, means: Means, summary: dict[str, Any]) -> Path:
    """Write ``report.html`` into the folder of a sweep and return its path."""
    families = families_of(config)
    severity = main_severity(config)
    changed = [row.title for row in config.transforms if row.title != BASELINE]
    text = report.template(TEMPLATE).render(
        config=config,
        facts=[(title, shown(summary[name])) for name, title in FACTS.items() if name in summary],
        independent=independence(config, families),
        severity=f"{severity:g}",
        conditions_svg=sweep_charts.conditions(config, means, severity),
        ruined=ruined(means),
        comparisons=[row(each) for each in means.comparisons()],
        curves=[sweep_charts.robustness(config, means, name) for name in changed] if len(config.severities) > 1 else [],
        heat_maps=[sweep_charts.heat_map(config, means, name) for name in measures_of(config)],
    )
    target = folder / "report.html"
    target.write_text(text, encoding="utf-8")
    return target


def main_severity(config: SweepConfig) -> float:
    """Return the severity at which transforms are compared: the one nearest to 1, the default of every transform."""
    return min(config.severities, key=lambda severity: (abs(severity - 1.0), severity))


def independence(config: SweepConfig, families: list[str] | None) -> str:
    """Return what the intervals count as independent, for the reader."""
    if families is None:
        count = config.windows * config.seeds
        return f"Intervals count {count:,} independent simulated {'market' if count == 1 else 'markets'}."
    count = len(set(families))
    text = (
        f"Intervals count {count:,} independent {'stretch' if count == 1 else 'stretches'} of time: the "
        f"{config.seeds:,} seeds of a window share its prices, and so do windows that begin in the same "
        f"stretch of time ({config.windows:,} {'window' if config.windows == 1 else 'windows'} in all)."
    )
    if count == 1:
        return text + " One alone gives no interval and no test; ask for more windows."
    return text + (" So few make wide intervals; ask for more windows." if count < FEW_FAMILIES else "")


def ruined(means: Means) -> str:
    """Return which accounts lost everything, for the reader; empty when none did."""
    found = [
        f"{name} under {transform} {severity:g}: {count:,}" for (transform, severity, name), count in means.ruined()
    ]
    if not found:
        return ""
    return (
        "Some accounts lost everything. Their log growth is minus infinity, so no mean, difference or interval of log "
        f"growth counts them: {'; '.join(found)}."
    )


def row(each: Comparison) -> dict[str, Any]:
    """Return one line of the table of differences, as text."""
    difference, se, half, p_value, n = each.paired
    return {
        "strategy": each.strategy,
        "transform": each.transform,
        "severity": f"{each.severity:g}",
        "difference": signed(difference),
        "interval": "n/a" if half is None else f"{signed(difference - half)} to {signed(difference + half)}",
        "p": "n/a" if p_value is None else probability(p_value),
        "holm": "n/a" if each.p_adjusted is None else probability(each.p_adjusted),
        "significant": each.p_adjusted is not None and each.p_adjusted < LEVEL,
        "detectable": f"{minimum_detectable_difference(se):.4f}" if se else "n/a",
        "n": f"{n:,}",
    }


def signed(value: float) -> str:
    """Return four decimals with the sign; what rounds to 0 has none."""
    rounded = round(value, 4)
    return f"{rounded:+.4f}" if rounded else "0.0000"


def probability(value: float) -> str:
    """Return a p value, small ones as a bound."""
    return "< 0.0001" if value < 1e-4 else f"{value:.4f}"


def shown(value: Any) -> str:
    """Return a value as a reader wants it."""
    if isinstance(value, float):
        return f"{value:,.2f}" if abs(value) < 1e5 else f"{value:,.0f}"
    return f"{value:,}" if isinstance(value, int) else str(value)
