"""From a run's records to what the report's template shows: plain values, charts as SVG, nothing unescaped."""

from __future__ import annotations

import base64
import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from engine import tool_times
from engine.record import UNSCORED, State, TaskRecord, Turn
from engine.report import alpha, charts, results, tables
from engine.report.remarks import cost, points, remarks
from engine.scoring.intervals import around_zero
from engine.scoring.score import clip, samples_of
from engine.scoring.statistics import clustered_mean
from engine.spending import in_words, is_known

SHOWN_CHARACTERS = 12_000
FULL_MESSAGES = 8
METRICS = {
    "total_return": "Total return",
    "sharpe": "Sharpe ratio, per year",
    "max_drawdown": "Maximum drawdown",
    "win_rate": "Win rate after costs",
    "trades": "Trades an episode",
    "exposure": "Mean exposure, of equity",
    "cost": "Costs, of equity",
    "timing_points": "Skill points from timing",
    "cost_points": "Skill points lost to costs",
    "reachable": "Skill points in reach of who reads the feed",
    "paper_product": "Published product (eq. 13), for comparison",
    "as_published": "Published formula (0-100), for comparison",
}
"""Plain metrics of a crypto task's details and their titles."""
SHARES = ("total_return", "max_drawdown", "win_rate", "exposure", "cost")
"""Metrics that are fractions, shown in percent."""
STATE_WORDS = {
    State.PASSED: "passed",
    State.FAILED: "not passed",
    State.AGENT_ERROR: "agent error",
    State.AGENT_UNAVAILABLE: "agent not available",
    State.INFRA_UNAVAILABLE: "harness failure",
    State.NOT_RUN: "not run",
}


def context(manifest: Mapping[str, Any], records: Sequence[TaskRecord]) -> dict[str, Any]:
    """Return everything the template needs."""
    rows = list(records)
    summary = results.summary(dict(manifest), rows)
    return {
        "manifest": manifest,
        "summary": summary,
        "seed_source": summary["seed_source"],
        "overall_points": points(summary["overall"]["score"]),
        "overall_scored": results.scored_of(summary["overall"]),
        "notices": remarks(summary),
        "cost": cost(summary),
        "alpha": alpha.rows(summary),
        "sections": [_section(name, row) for name, row in summary["sections"].items()],
        "overview_svg": charts.intervals(_interval_rows(summary)),
        "radar_svg": charts.radar({name: row["score"] for name, row in summary["sections"].items()}),
        "tables": [_table(item) for item in tables.shown(rows)],
        "crypto": _crypto([row for row in rows if row["section"] == "crypto_trading"]),
        "options": _options([row for row in rows if row["section"] == "options_trading"]),
        "calls_svg": charts.bars({k: float(v) for k, v in summary["tool_calls"].items()}, unit="calls"),
        "tasks": [_task(number, row) for number, row in enumerate(rows, start=1)],
        "settings": json.dumps(manifest["config"], indent=2, ensure_ascii=False),
    }


def _interval_rows(summary: dict[str, Any]) -> list[tuple[str, float | None, tuple[float, float] | None]]:
    named = [("overall", summary["overall"]), *summary["sections"].items()]
    return [(name, row["score"], tuple(row["ci95"]) if row["ci95"] else None) for name, row in named]


def _section(name: str, row: dict[str, Any]) -> dict[str, Any]:
    words = {"points": points(row["score"]), "scored_of": results.scored_of(row)}
    return row | words | {"title": charts.readable(name), "name": name}


def _table(item: dict[str, Any]) -> dict[str, Any]:
    """Return one of the papers' tables in words."""
    lines = [
        {
            "group": charts.readable(row.group),
            "score": points(row.score),
            "interval": "n/a" if row.low is None else f"{points(row.low)} to {points(row.high)}",
            "tasks": row.tasks if row.tasks == row.scored else f"{row.scored} of {row.tasks}",
            "passed": row.passed,
        }
        for row in item["rows"]
    ]
    return {"title": item["title"], "lines": lines}


def _options(records: list[TaskRecord]) -> dict[str, Any] | None:
    """Return the four-dimension picture of the options section."""
    parts = results.mean_parts(records)
    return {"svg": charts.bars(parts, unit="points of 100", maximum=100.0), "parts": parts} if parts else None


def _crypto(records: list[TaskRecord]) -> dict[str, Any] | None:
    """Return the transform comparison: skill with intervals, equity curves, the plain metrics beside it."""
    played = [record for record in records if record["details"].get("transform")]
    if not played:
        return None
    groups: dict[str, list[TaskRecord]] = {}
    for record in played:
        groups.setdefault(record["details"]["transform"], []).append(record)
    curves = {name: paths for name, group in groups.items() if (paths := _equity_paths(group))}
    return {
        "skill_svg": charts.comparison([_skill(name, group) for name, group in groups.items()], unit="skill"),
        "equity_svg": charts.curves(curves, unit="equity, start = 1") if curves else "",
        "metrics": _metric_table(groups),
        "structures": _structure_table(groups),
    }


def _skill(name: str, records: list[TaskRecord]) -> tuple[str, float, tuple[float, float] | None]:
    samples = [sample for record in records for sample in samples_of(record)]
    return name, clustered_mean(samples).value, around_zero(samples)


def _equity_paths(records: list[TaskRecord]) -> list[list[float]]:
    """Return the equity paths of a group's episodes, each starting at 1."""
    return [
        path
        for record in records
        for path in record["details"].get("equity_curves", {}).get("windows", {}).values()
        if len(path) > 1
    ]


def _metric_table(groups: dict[str, list[TaskRecord]]) -> dict[str, Any]:
    """Return one column a transform and one row a metric, averaged over the group's tasks."""
    rows = [(title, [_mean_metric(group, name) for group in groups.values()]) for name, title in METRICS.items()]
    return {
        "transforms": [charts.readable(name) for name in groups],
        "rows": [("Skill kept from baseline", _kept(groups)), ("Equivalent IC", _coefficients(groups)), *rows],
    }


def _coefficients(groups: dict[str, list[TaskRecord]]) -> list[str]:
    """Return the information coefficient of a forecaster who would score the same, with its 95% interval."""
    cells = []
    for group in groups.values():
        told = [found for record in group if (found := record["details"].get("equivalent_ic"))]
        value, low, high = (
            math.fsum(each[name] for each in told) / max(len(told), 1) for name in ("value", "low", "high")
        )
        cells.append(f"{value:.2f} [{low:.2f}, {high:.2f}]" if told else "n/a")
    return cells


def _structure_table(groups: dict[str, list[TaskRecord]]) -> dict[str, Any] | None:
    """Return one row a structure of simulated markets and one column a transform: the share found of what was offered.

    Of all tasks of a transform together, before costs were collected; the last column is of all transforms.
    """
    sums: dict[str, dict[str, tuple[float, float]]] = {}
    for name, group in groups.items():
        for record in group:
            for row in record["details"].get("structures", ()):
                for column in (name, ""):
                    found, offered = sums.setdefault(row["structure"], {}).get(column, (0.0, 0.0))
                    sums[row["structure"]][column] = (found + row["points"], offered + row["offered"])
    if not sums:
        return None
    columns = [*groups, ""]
    shares = {
        structure: [
            f"{row[name][0] / row[name][1]:.0%}" if row.get(name, (0, 0))[1] > 0.0 else "n/a" for name in columns
        ]
        for structure, row in sums.items()
    }
    order = sorted(sums, key=lambda name: -sums[name][""][0] / max(sums[name][""][1], 1e-9))
    return {
        "transforms": [*(charts.readable(name) for name in groups), "All"],
        "rows": [(charts.readable(name), shares[name]) for name in order],
    }


def _kept(groups: dict[str, list[TaskRecord]]) -> list[str]:
    """Return skill under each transform over skill in clean markets: the robustness; n/a without skill to lose."""
    skills = {name: math.fsum(record["value"] for record in group) / len(group) for name, group in groups.items()}
    clean = skills.get("baseline", 0.0)
    return [f"{value / clean:.0%}" if clean > 0.0 else "n/a" for value in skills.values()]


def _mean_metric(records: list[TaskRecord], name: str) -> str:
    values = [record["details"].get(name) for record in records]
    numbers = [value for value in values if isinstance(value, int | float) and not isinstance(value, bool)]
    if not numbers:
        return "n/a"
    mean = math.fsum(numbers) / len(numbers)
    return f"{_plain(100.0 * mean)}%" if name in SHARES else _plain(mean)


def _plain(value: float) -> str:
    """Return a number for a reader: two decimals, below 1 two significant digits, never an exponent."""
    rounded = round(value, 6) + 0.0
    return np.format_float_positional(rounded, precision=2, fractional=abs(rounded) >= 1.0, trim="-")


def _task(number: int, record: TaskRecord) -> dict[str, Any]:
    details = {name: value for name, value in record["details"].items() if name not in ("samples", "equity_curves")}
    value = None if record["state"] in UNSCORED else record["value"]
    return {
        "number": number,
        "id": record["task_id"],
        "section": charts.readable(record["section"]),
        "section_name": record["section"],
        "dataset": record["dataset"],
        "category": record["category"],
        "state": record["state"],
        "state_words": STATE_WORDS[record["state"]],
        "score": points(None if value is None else clip(value)),
        "value": points(value),
        "reason": record["reason"],
        "as_of": record["as_of"],
        "question": record["question"],
        "parts": [(charts.readable(name), points(value)) for name, value in record["parts"].items()],
        "details": json.dumps(details, indent=2, ensure_ascii=False) if details else "",
        "transcript": _transcript(record["transcript"]),
        "calls": [call | {"seconds": tool_times.seconds(call)} for call in record["tool_calls"]],
        "slow_tool_calls": record.get("slow_tool_calls", 0),
        "attempts": 1 + len(record.get("former", ())),
        "fresh_draw": record.get("draw", 1) > 1,
        "unread_logs": record.get("tool_log_missing", []),
        "lookahead": record["lookahead_attempts"],
        "tokens": record["usage"]["input_tokens"] + record["usage"]["output_tokens"],
        "cost": in_words(record["usage"]["cost_usd"], known=is_known(record["usage"])),
        "seconds": record["seconds"],
        "chance_score": record["chance_score"],
    }


def _transcript(turns: list[Turn]) -> list[dict[str, Any]]:
    """Return the messages, long ones cut with a note that says so; the store keeps them whole."""
    shown = []
    for index, turn in enumerate(turns):
        early = index < FULL_MESSAGES or index >= len(turns) - 2
        limit = SHOWN_CHARACTERS if early else 400
        text = _pretty(turn["text"])
        shown.append({"role": turn["role"], "text": text[:limit], "cut": max(0, len(text) - limit)})
    return shown


def _pretty(text: str) -> str:
    """Return JSON indented, everything else as it is; lone surrogates are shown as escapes."""
    try:
        text = json.dumps(json.loads(text), indent=1, ensure_ascii=False)
    except (ValueError, RecursionError):
        pass
    return text.encode("utf-8", "backslashreplace").decode()


def content_hash(text: str) -> str:
    """Return the Content-Security-Policy source of an inline script or style."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
