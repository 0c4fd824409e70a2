"""The tables of the papers: one list of rows, shown in the report and kept as ``tables.csv``."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from engine.record import UNSCORED, TaskRecord
from engine.report.results import mean_parts
from engine.scoring.score import clip, interval_of, samples_of
from engine.scoring.statistics import clustered_mean
from evaluators.contract import DIFFICULTIES

COLUMNS = ("table", "group", "score", "se", "low", "high", "tasks", "scored", "passed")
TITLES = {
    "section": "By section",
    "dataset": "By dataset",
    "difficulty": "By category and difficulty",
    "bizfinbench": "BizFinBench by task type",
    "options": "Options Alpha by dimension",
    "options_category": "Options Alpha by category",
    "synthetic": "Analytical reasoning: methodology, calculation, final answer",
    "crypto": "Crypto trading by transform",
    "gdpval": "GDPval sub-scores",
    "professional": "Professional tasks by part",
}
"""Tables in their order, with their titles. One that a run has no tasks for is left out."""
DIMENSIONS = {"options": "options", "synthetic": "synthetic", "gdpval": "gdpval", "professional": "professional"}
"""Table -> the dataset whose parts are its rows."""


class Row(NamedTuple):
    """One group of tasks, or one part of their scores.

    Attributes
    ----------
    table, group
        Which table, and which row of it.
    score
        Mean over the scored tasks, cut to 0-100; None without one.
    se, low, high
        Standard error clustered by family and 95% interval; None with fewer than two families, and for parts.
    tasks, scored, passed
        How many.
    """

    table: str
    group: str
    score: float | None
    se: float | None
    low: float | None
    high: float | None
    tasks: int
    scored: int
    passed: int


def rows(records: Sequence[TaskRecord]) -> list[Row]:
    """Return every table of a run, in the order of ``TITLES``."""
    groupings: dict[str, tuple[Callable[[TaskRecord], bool], Callable[[TaskRecord], str]]] = {
        "section": (lambda record: True, lambda record: record["section"]),
        "dataset": (lambda record: True, lambda record: record["dataset"]),
        "difficulty": (lambda record: "difficulty" in record, _level),
        "bizfinbench": (lambda record: record["dataset"] == "bizfinbench", lambda record: record["category"]),
        "options_category": (lambda record: record["dataset"] == "options", lambda record: record["category"]),
        "crypto": (lambda record: bool(_transform(record)), _transform),
    }
    found: list[Row] = []
    for table in TITLES:
        if table in DIMENSIONS:
            found += _parts(table, [record for record in records if record["dataset"] == DIMENSIONS[table]])
        else:
            chosen, group = groupings[table]
            found += _grouped(table, filter(chosen, records), group)
    return found


def _level(record: TaskRecord) -> str:
    return f"{record['category']}, {record.get('difficulty', '')}"


def _transform(record: TaskRecord) -> str:
    return str(record["details"].get("transform") or "") if record["section"] == "crypto_trading" else ""


def _grouped(table: str, records: Iterable[TaskRecord], group: Callable[[TaskRecord], str]) -> list[Row]:
    groups: dict[str, list[TaskRecord]] = {}
    for record in records:
        groups.setdefault(group(record), []).append(record)
    return [_row(table, name, chosen) for name, chosen in groups.items()]


def _row(table: str, name: str, records: Sequence[TaskRecord]) -> Row:
    scored = [record for record in records if record["state"] not in UNSCORED]
    counts = (len(records), len(scored), sum(bool(record["passed"]) for record in scored))
    if not scored:
        return Row(table, name, None, None, None, None, *counts)
    samples = [sample for record in scored for sample in samples_of(record)]
    low, high = interval_of(scored[0]["section"], samples) or (None, None)
    mean = clip(math.fsum(record["value"] for record in scored) / len(scored))
    return Row(table, name, mean, clustered_mean(samples).se, low, high, *counts)


def _parts(table: str, records: Sequence[TaskRecord]) -> list[Row]:
    """Return a row for each part of the tasks' scores, on the scale of the parts."""
    scored = sum(record["state"] not in UNSCORED for record in records)
    passed = sum(bool(record["passed"]) for record in records)
    return [
        Row(table, name, value, None, None, None, len(records), scored, passed)
        for name, value in mean_parts(records).items()
    ]


def as_csv(records: Sequence[TaskRecord]) -> str:
    """Return the tables as CSV, a column a field of :class:`Row`; what is not known is empty."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows(["" if value is None else value for value in row] for row in rows(records))
    return text.getvalue()


def as_markdown(records: Sequence[TaskRecord], table: str) -> str:
    """Return one table as Markdown: a row a group with score, 95% interval and number of scored tasks.

    ``difficulty`` has a row a category and a column a level.

    Raises
    ------
    ValueError
        The run has no tasks for the table.
    """
    found = [row for row in rows(records) if row.table == table]
    if not found:
        there = ", ".join(dict.fromkeys(row.table for row in rows(records)))
        raise ValueError(f"the run has no tasks for the table {table!r}; it has: {there}")
    if table != "difficulty":
        return _grid(("group", "score"), [(row.group, _cell(row)) for row in found])
    cells = {row.group: _cell(row) for row in found}
    categories = dict.fromkeys(row.group.rpartition(", ")[0] for row in found)
    levels = [(name, *(cells.get(f"{name}, {level}", "-") for level in DIFFICULTIES)) for name in categories]
    return _grid(("category", *DIFFICULTIES), levels)


def _cell(row: Row) -> str:
    if row.score is None:
        return f"- (0 of {row.tasks})"
    interval = "" if row.low is None or row.high is None else f" [{row.low:.0f}, {row.high:.0f}]"
    return f"{row.score:.0f}{interval} ({row.scored})"


def _grid(columns: Sequence[str], cells: Sequence[Sequence[str]]) -> str:
    lines = [columns, ["---"] * len(columns), *cells]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def shown(records: Sequence[TaskRecord]) -> list[dict[str, Any]]:
    """Return each table with its title and rows, for the report."""
    found = rows(records)
    return [
        {"title": title, "rows": chosen}
        for table, title in TITLES.items()
        if (chosen := [row for row in found if row.table == table])
    ]
