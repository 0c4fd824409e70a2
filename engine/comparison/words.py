"""A comparison and a leaderboard for people and for scripts: sentences, tables, plain values."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from engine.comparison.board import Standing
from engine.comparison.document import Document, Table
from engine.comparison.pair import Comparison, Pair, Row, detectable, span
from engine.comparison.played import Played
from engine.report import charts
from engine.report.remarks import points, tasks
from engine.report.results import scored_of
from engine.scoring.statistics import ROUNDING, PairedDifference, holm
from engine.spending import dollars

SHOWN_TASKS = 12
PART_COLUMNS = ("", "tasks", "difference", "95% interval", "p", "p, Holm", "detectable")


def verdict(comparison: Comparison) -> str:
    """Return what the comparison says, in words."""
    first, second = comparison.first.label, comparison.second.label
    overall = comparison.overall
    size, chance = abs(overall.difference), _p(overall.p_value)
    if overall.p_value is None:
        alone = any(row.difference.se is None for row in comparison.sections.values())
        why = (
            "a section has tasks of one family only" if alone else "sections differ both ways, each without any spread"
        )
        return f"{first} and {second}: nothing can be told, {why}; play more tasks"
    if comparison.differ:
        better, worse = (first, second) if overall.difference > 0.0 else (second, first)
        return f"{better} is better than {worse} by {points(size)} points ({_interval_words(overall)}p {chance})"
    reach = detectable(overall)
    if reach is None and size <= ROUNDING:
        return f"{first} and {second} cannot be told apart: the same score on all {tasks(overall.n)}"
    if reach is None:
        return (
            f"{first} and {second} cannot be told apart: difference {_signed(overall.difference)} points without any "
            f"spread, but {tasks(overall.n)} are too few (p {chance})"
        )
    said = (
        f"{first} and {second} cannot be told apart: difference {points(overall.difference)} points "
        f"({_interval_words(overall)}p {chance}); {tasks(overall.n)} show a true difference of {points(reach)} points "
        "4 times of 5"
    )
    enough = comparison.tasks_to_tell
    return f"{said}; one of the size seen would take about {enough:,} tasks" if enough else said


def comparison_values(comparison: Comparison) -> dict[str, Any]:
    """Return a comparison as ``compare --json`` prints it."""
    return {
        **_difference(comparison.overall),
        "sections": {name: _row(row) for name, row in comparison.sections.items()},
        "categories": {name: _row(row) for name, row in comparison.categories.items()},
        "transforms": {name: _row(row) for name, row in comparison.transforms.items()},
        "verdict": verdict(comparison),
        "tasks_to_tell": comparison.tasks_to_tell,
        "passes": dict(comparison.passes._asdict()),
        "first": _run(comparison.first),
        "second": _run(comparison.second),
        "tasks": [_task(pair) for pair in comparison.pairs],
    }


def many_values(comparisons: Sequence[Comparison]) -> dict[str, Any]:
    """Return several comparisons; ``p_holm`` is corrected over the pairs."""
    adjusted = _over_pairs(comparisons)
    return {"pairs": [comparison_values(one) | {"p_holm": p} for one, p in zip(comparisons, adjusted, strict=True)]}


def _run(run: Played) -> dict[str, Any]:
    told = {"agent": run.agent, "run": str(run.folder), "config": run.config, "seed": run.seed}
    return told | {"tasks": len(run.records), "scored": len(run.scored)}


def _difference(paired: PairedDifference) -> dict[str, Any]:
    interval = span(paired)
    return {
        "n": paired.n,
        "difference": paired.difference,
        "se": paired.se,
        "ci95": None if interval is None else list(interval),
        "p": paired.p_value,
        "minimum_detectable_difference": detectable(paired),
    }


def _row(row: Row) -> dict[str, Any]:
    return _difference(row.difference) | {"p_holm": row.p_holm}


def _task(pair: Pair) -> dict[str, Any]:
    told = {name: pair.first[name] for name in ("task_id", "section", "dataset", "category", "family")}
    return told | {
        "first": pair.first["value"],
        "second": pair.second["value"],
        "difference": pair.difference,
        "first_passed": pair.first["passed"],
        "second_passed": pair.second["passed"],
    }


def comparison_document(comparisons: Sequence[Comparison]) -> Document:
    """Return the comparison of two runs, or of each two of several."""
    parts = [part for one in comparisons for part in _comparison_tables(one, titled=len(comparisons) > 1)]
    sentences = [verdict(one) for one in comparisons]
    if len(comparisons) > 1:
        parts.insert(0, _pairs_table(comparisons))
    first = comparisons[0]
    return Document(
        title="Who is better",
        sentences=sentences,
        chart=_chart(first) if len(comparisons) == 1 else "",
        note=(
            "Differences are first minus second in points, on the tasks that both played, clustered by family; p is "
            "two-sided by Student's t, and Holm's corrects it over the rows of its table. Detectable: the true "
            "difference that so many tasks show 4 times of 5."
        ),
        tables=parts,
    )


def _comparison_tables(comparison: Comparison, *, titled: bool) -> list[Table]:
    first, second = comparison.first.label, comparison.second.label
    about = f": {first} less {second}" if titled else ""
    rows: list[tuple[str, PairedDifference, float | None]] = [("overall", comparison.overall, None)]
    rows += [(name, row.difference, row.p_holm) for name, row in comparison.sections.items()]
    tables = [Table(f"By section{about}", PART_COLUMNS, [_cells(*row) for row in rows])]
    for title, named in (("By category", comparison.categories), ("By market transform", comparison.transforms)):
        if len(named) > 1:
            cells = [_cells(name, row.difference, row.p_holm) for name, row in named.items()]
            tables.append(Table(f"{title}{about}", PART_COLUMNS, cells))
    passes = comparison.passes
    counts = [str(passes.both), str(passes.first_only), str(passes.second_only), str(passes.neither)]
    outcomes = ("passed by both", f"only {first}", f"only {second}", "neither", "p, McNemar")
    tables.append(Table(f"Tasks passed{about}", outcomes, [[*counts, _p(passes.p_value)]]))
    lost = [pair for pair in comparison.pairs if pair.difference][:SHOWN_TASKS]
    if lost:
        columns = ("task", "section", "category", first, second, "difference")
        tables.append(Table(f"Who lost what, the largest differences{about}", columns, [_lost(pair) for pair in lost]))
    return tables


def _lost(pair: Pair) -> list[str]:
    record = pair.first
    values = [points(pair.first["value"]), points(pair.second["value"]), _signed(pair.difference)]
    return [record["task_id"], charts.readable(record["section"]), record["category"], *values]


def _pairs_table(comparisons: Sequence[Comparison]) -> Table:
    rows = []
    for one, p_holm in zip(comparisons, _over_pairs(comparisons), strict=True):
        first, second = one.first.label, one.second.label
        rows.append(_cells(f"{first} less {second}", one.overall, p_holm))
    return Table("All pairs", PART_COLUMNS, rows)


def _over_pairs(comparisons: Sequence[Comparison]) -> list[float | None]:
    known = [number for number, one in enumerate(comparisons) if one.overall.p_value is not None]
    adjusted = holm([comparisons[number].overall.p_value or 0.0 for number in known])
    by_number = dict(zip(known, adjusted, strict=True))
    return [by_number.get(number) for number in range(len(comparisons))]


def _cells(name: str, paired: PairedDifference, p_holm: float | None) -> list[str]:
    interval = span(paired)
    reach = detectable(paired)
    return [
        charts.readable(name) if "_" in name else name,
        str(paired.n),
        _signed(paired.difference),
        "n/a" if interval is None else f"{_signed(interval[0])} to {_signed(interval[1])}",
        _p(paired.p_value),
        "" if name == "overall" else _p(p_holm),
        "n/a" if reach is None else points(reach),
    ]


def _chart(comparison: Comparison) -> str:
    rows = [(name, row.difference.difference, span(row.difference)) for name, row in comparison.sections.items()]
    return charts.comparison(
        [("overall", comparison.overall.difference, span(comparison.overall)), *rows], unit="points"
    )


def standing_values(rows: Sequence[Standing]) -> list[dict[str, Any]]:
    """Return a leaderboard as ``leaderboard --json`` prints it."""
    return [
        {
            "agent": row.agent,
            "score": row.score.score,
            "se": row.score.se,
            "ci95": None if row.score.ci95 is None else list(row.score.ci95),
            "rank": None if row.rank is None else list(row.rank),
            "cost_usd": row.cost_usd,
            "tokens": row.tokens,
            "runs": row.runs,
            "tasks": row.score.total,
            "scored": row.score.n,
            "passed": row.score.passed,
            "seconds": row.seconds,
            "lookahead_attempts": row.lookahead_attempts,
            "role": row.alpha.role.score,
            "debate": row.alpha.debate.mean_multiplier,
            "lookahead_penalty": row.alpha.lookahead.penalty,
            "alpha": row.alpha.bounded,
            "alpha_paper": row.alpha.paper,
            "agent_digest": row.agent_digest,
            "config": row.config,
            "benchmark": row.benchmark,
        }
        for row in rows
    ]


def board_document(rows: Sequence[Standing]) -> Document:
    """Return the leaderboard: a table for each benchmark."""
    benchmarks: dict[str, list[Standing]] = {}
    for row in rows:
        benchmarks.setdefault(row.benchmark, []).append(row)
    columns = (
        "rank",
        "agent",
        "score",
        "95% interval",
        "tasks",
        "passed",
        "cost",
        "tokens",
        "time",
        "look-aheads",
        "role",
        "debate",
        "alpha",
        "runs",
    )
    tables = [
        Table(f"{group[0].config} ({benchmark})", columns, [_board_cells(row, group) for row in group])
        for benchmark, group in benchmarks.items()
    ]
    drawn = [(row.agent, row.score.score, row.score.ci95) for row in rows]
    return Document(
        title="Leaderboard",
        sentences=[],
        chart=charts.intervals(drawn) if len(benchmarks) == 1 else "",
        note=(
            "A rank of 1 to 3 means that the data cannot say which of the three places it is: agents are compared "
            "task by task where they played the same, at the 5% level after Holm's correction over all pairs. Runs of "
            "other configs, data or limits stand in tables of their own."
        ),
        tables=tables,
    )


def _board_cells(row: Standing, group: Sequence[Standing]) -> list[str]:
    low, high = row.rank or (None, None)
    twins = sum(other.agent == row.agent for other in group) > 1
    interval = row.score.ci95
    return [
        "n/a" if low is None else str(low) if low == high else f"{low} to {high}",
        f"{row.agent} ({row.agent_digest[:8]})" if twins else row.agent,
        points(row.score.score),
        "n/a" if interval is None else f"{points(interval[0])} to {points(interval[1])}",
        scored_of({"n": row.score.n, "total": row.score.total}),
        str(row.score.passed),
        "unknown" if row.cost_usd is None else dollars(row.cost_usd),
        f"{row.tokens:,}",
        f"{row.seconds:,.0f} s",
        str(row.lookahead_attempts),
        points(row.alpha.role.score),
        f"{row.alpha.debate.mean_multiplier:.3f}" if row.alpha.debate.tasks else "off",
        points(row.alpha.bounded),
        str(row.runs),
    ]


def comparison_rows(comparisons: Sequence[Comparison]) -> list[dict[str, Any]]:
    """Return every difference as a flat row, for CSV and Parquet."""
    rows = []
    for one, over_pairs in zip(comparisons, _over_pairs(comparisons), strict=True):
        sides = {"first": one.first.label, "second": one.second.label}
        sides |= {"first_run": str(one.first.folder), "second_run": str(one.second.folder)}
        named: list[tuple[str, str, PairedDifference, float | None]] = [("overall", "overall", one.overall, over_pairs)]
        parts: Mapping[str, Mapping[Any, Row]] = {
            "section": one.sections,
            "category": one.categories,
            "transform": one.transforms,
        }
        named += [
            (part, name, row.difference, row.p_holm) for part, group in parts.items() for name, row in group.items()
        ]
        for part, name, difference, p_holm in named:
            low, high = span(difference) or (math.nan, math.nan)
            told = sides | {"part": part, "name": name} | _difference(difference)
            del told["ci95"]
            rows.append(_flat(told | {"low": low, "high": high, "p_holm": p_holm}))
    return rows


def standing_rows(rows: Sequence[Standing]) -> list[dict[str, Any]]:
    """Return every standing as a flat row, for CSV and Parquet."""
    flat = []
    for row, told in zip(rows, standing_values(rows), strict=True):
        low, high = row.score.ci95 or (math.nan, math.nan)
        rank_low, rank_high = row.rank or (math.nan, math.nan)
        del told["ci95"], told["rank"]
        flat.append(_flat(told | {"low": low, "high": high, "rank_low": rank_low, "rank_high": rank_high}))
    return flat


def _flat(row: dict[str, Any]) -> dict[str, Any]:
    """Return a row in which a number that is not known is NaN, so that its column stays one of numbers."""
    return {name: math.nan if value is None else value for name, value in row.items()}


def _signed(value: float) -> str:
    return f"{round(value, 1) + 0.0:+.1f}"


def _p(value: float | None) -> str:
    if value is None:
        return "n/a"
    return "< 0.001" if value < 0.001 else f"{value:.3f}"


def _interval_words(paired: PairedDifference) -> str:
    interval = span(paired)
    return "" if interval is None else f"95% {_signed(interval[0])} to {_signed(interval[1])}, "
