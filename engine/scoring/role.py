"""The FAB++ Role Score from what is measured: claims and mechanism, figures, tool use and order execution."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple, TypeAlias, get_args

from engine.record import BROKEN, UNSCORED, TaskRecord
from engine.scoring.score import clip, role_score
from engine.scoring.statistics import Sample, clustered_mean

Dimension: TypeAlias = Literal["macro", "fundamental", "execution"]
DIMENSIONS: tuple[Dimension, ...] = get_args(Dimension)

PARTS: Mapping[str, Dimension] = {
    # claims and mechanism: does the method hold on other inputs, does the conclusion follow, is nothing contradicted
    "methodology": "macro",
    "professionalism": "macro",
    "no contradiction": "macro",
    # figures against the truth
    "answer": "fundamental",
    "calculation": "fundamental",
    "accuracy": "fundamental",
    "correctness": "fundamental",
    "pnl": "fundamental",
    "greeks": "fundamental",
    "risk": "fundamental",
    # what was carried out: positions within their limits, trades, deliverables
    "strategy": "execution",
    "skill": "execution",
    "completion": "execution",
    "format": "execution",
}
"""Part of a task's score -> dimension."""
MECHANISM: frozenset[str] = frozenset({"Event Logic Reasoning", "Macro Analysis", "Sentiment Analysis"})
"""Categories whose answer is a claim about what leads to what, not a figure."""
ARGUED: frozenset[str] = frozenset({"prbench"})
"""Datasets whose parts are named by their rubrics: an expert's claims, all of them."""
BROKEN_COUNT_IN: Mapping[str, tuple[Dimension, ...]] = {
    "synthetic": ("macro", "fundamental"),
    "options": ("fundamental", "execution"),
    "crypto": ("execution",),
    "professional": ("macro", "fundamental", "execution"),
    "gdpval": ("macro", "fundamental", "execution"),
    "prbench": ("macro",),
    "public_csv": ("macro", "fundamental"),
}
"""Where a task counts 0 that the agent broke, by dataset; ``fundamental`` (``macro`` in a category of
:data:`MECHANISM`) where nothing is said."""


class DimensionScore(NamedTuple):
    """One dimension: its mean over ``n`` tasks, with the clustered standard error; None without a task."""

    score: float | None
    se: float | None
    n: int


class Role(NamedTuple):
    """The Role Score of a run.

    Attributes
    ----------
    score, se
        30% macro, 40% fundamental, 30% execution, the weights of dimensions without a task given to the others in
        proportion; its standard error, clustered by family. None without any.
    dimensions
        The three.
    weights
        Those that were used.
    unplaced
        Parts of scores that :data:`PARTS` has no place for; they count nowhere.
    """

    score: float | None
    se: float | None
    dimensions: dict[Dimension, DimensionScore]
    weights: dict[Dimension, float]
    unplaced: list[str]


def role(records: Sequence[TaskRecord]) -> Role:
    """Return the Role Score of a run's task records, each on its first answer: a debate is in the Alpha Score."""
    samples: dict[Dimension, list[Sample]] = {name: [] for name in DIMENSIONS}
    unplaced: set[str] = set()
    for record in records:
        if record["state"] in UNSCORED:
            continue
        values, foreign = values_of(record)
        unplaced |= foreign
        for name, value in values.items():
            samples[name].append(Sample(record["family"], value))
    estimates = {name: clustered_mean(rows) for name, rows in samples.items() if rows}
    full = {name: role_score(**{other: float(other == name) for other in DIMENSIONS}) for name in DIMENSIONS}
    present = math.fsum(full[name] for name in estimates)
    weights = {name: full[name] / present if name in estimates else 0.0 for name in DIMENSIONS}
    return Role(
        score=math.fsum(weights[name] * row.value for name, row in estimates.items()) if estimates else None,
        se=_standard_error(samples, weights),
        dimensions={
            name: DimensionScore(estimates[name].value, estimates[name].se, len(samples[name]))
            if name in estimates
            else DimensionScore(None, None, 0)
            for name in DIMENSIONS
        },
        weights=weights,
        unplaced=sorted(unplaced),
    )


def values_of(record: TaskRecord) -> tuple[dict[Dimension, float], set[str]]:
    """Return what a scored task is worth in each dimension that it measures, 0 to 100, and the parts without a place.

    Tool use is measured where tools were called: the share of calls that served, times the score of the task, so that
    calling for its own sake is worth nothing. A call that failed or looked ahead did not serve.
    """
    mechanism = record["category"] in MECHANISM
    if record["state"] in BROKEN and not record["parts"]:
        named = BROKEN_COUNT_IN.get(record["dataset"], ("macro",) if mechanism else ("fundamental",))
        return dict.fromkeys(named, 0.0), set()
    found: dict[Dimension, list[float]] = {}
    unplaced = set()
    for part, value in record["parts"].items():
        place = PARTS.get(part)
        if record["dataset"] in ARGUED or (mechanism and place == "fundamental"):
            place = "macro"
        if place is None:
            unplaced.add(f"{record['dataset']}: {part}")
        else:
            found.setdefault(place, []).append(0.0 if record["state"] in BROKEN else clip(value))
    if calls := record["tool_calls"]:
        served = sum(bool(call.get("ok")) and not call.get("lookahead") for call in calls) / len(calls)
        found.setdefault("execution", []).append(served * clip(first_value(record)))
    return {name: math.fsum(values) / len(values) for name, values in found.items()}, unplaced


def first_value(record: TaskRecord) -> float:
    """Return the value of a task's answer before a debate."""
    debate: Any = record["details"].get("debate")
    broken = record["state"] in BROKEN
    return float(debate["value_before"]) if isinstance(debate, dict) and not broken else record["value"]


def _standard_error(samples: Mapping[Dimension, Sequence[Sample]], weights: Mapping[Dimension, float]) -> float | None:
    """Return the clustered standard error of the weighted sum; dimensions share tasks and so are not independent.

    Each family's influence on the sum, squared and added up, times G / (G - 1) for G families.
    """
    influence: dict[str, float] = {}
    for name, rows in samples.items():
        if rows:
            mean = math.fsum(row.value for row in rows) / len(rows)
            for row in rows:
                share = weights[name] * (row.value - mean) / len(rows)
                influence[row.family] = influence.get(row.family, 0.0) + share
    count = len(influence)
    if count < 2:
        return None
    return math.sqrt(count / (count - 1) * math.fsum(value * value for value in influence.values()))
