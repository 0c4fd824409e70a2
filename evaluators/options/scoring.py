"""Score a reply: P&L, Greeks, Strategy and Risk, 25 points each, every number against the pricing engine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from evaluators.answers import Refusal, number_field, numbers_match, parse_json_object
from evaluators.answers.tolerance import CLEAR_MARGINS
from evaluators.contract import Json, Score
from evaluators.options.chain import Position
from evaluators.options.legs import read_legs
from evaluators.options.problem import (
    DIMENSIONS,
    RELATIVE_TOLERANCE,
    UNLOCKING_FIGURES,
    Figure,
    Figures,
    Problem,
    figures_beside_legs,
    telling_figures,
)

PASS_MARK = 70.0


def combine(parts: Mapping[str, float]) -> float:
    """Return the score of a task from its dimensions, each on 0-100: their mean (equation 12 of the paper)."""
    return sum(parts.values()) / len(parts)


def judge(problem: Problem, text: str, *, printed: Mapping[str, Json]) -> Score:
    """Return the score of the reply ``text``; ``printed`` are published figures to show beside the truth."""
    document = parse_json_object(text)
    if isinstance(document, Refusal):
        return Score(0.0, False, {"pnl": 0.0, "greeks": 0.0, "strategy": 0.0, "risk": 0.0}, reason=document.reason)
    position, strategy_score, strategy_notes = _review(problem, document.get("strategy"))
    truth = problem.truth(position)
    parts: dict[str, float] = {}
    details: dict[str, Json] = {"strategy": strategy_notes, "solution": problem.perfect_reply()}
    figures = problem.figures()
    for dimension in DIMENSIONS:
        notes = _compare(figures[dimension], document.get(dimension), truth)
        parts[dimension] = 100.0 * sum(note["right"] for note in notes.values()) / len(notes)
        details[dimension] = notes
    if not _worked_out(figures, details):
        strategy_score = 0.0
        strategy_notes.append({"requirement": "two right figures beside the legs", "met": False})
    parts["strategy"] = strategy_score
    if printed:
        details["printed"] = dict(printed)
    value = combine(parts)
    reason = ", ".join(f"{name} {part:.0f}" for name, part in parts.items())
    return Score(value, value >= PASS_MARK, parts, details, reason)


def _review(problem: Problem, given: Any) -> tuple[Position | None, float, list[Json]]:
    """Return the position when it is of the kind asked for, the points of the strategy, and notes."""
    legs = given.get("legs") if isinstance(given, dict) else None
    position = read_legs(legs, problem.tradable(), stock=problem.stock)
    if isinstance(position, Refusal):
        return None, 0.0, [position.reason]
    structure = problem.structure(position)
    notes: list[Json] = [{"requirement": item.text, "met": item.met} for item in structure]
    if not all(item.met for item in structure):
        return None, 0.0, notes
    limits = problem.limits(position)
    notes += [{"requirement": item.text, "met": item.met} for item in limits]
    return position, 100.0 * sum(item.met for item in limits) / len(limits) if limits else 100.0, notes


def _worked_out(figures: Figures, details: Mapping[str, Any]) -> bool:
    """Return whether two different figures are right that 0 would not nearly be: legs alone can be found by trying.

    One of them is of the position where several dimensions ask for such. Figures of the same size (what a spread costs
    is what it can lose) are one.
    """
    right = [
        (dimension, figure) for dimension, figure in telling_figures(figures) if _clear(figure, details[dimension])
    ]
    sizes: list[float] = []
    for dimension, figure in right:
        size = abs(details[dimension][figure.name]["expected"])
        if not any(numbers_match(size, other, relative=RELATIVE_TOLERANCE, absolute=0.0) for other in sizes):
            sizes.append(size)
    return len(sizes) >= UNLOCKING_FIGURES and any(row in figures_beside_legs(figures) for row in right)


def _clear(figure: Figure, notes: Mapping[str, Any]) -> bool:
    note = notes[figure.name]
    return bool(note["right"]) and abs(note["expected"]) > CLEAR_MARGINS * figure.floor


def _compare(figures: Sequence[Figure], given: Any, truth: Mapping[str, float]) -> dict[str, dict[str, Json]]:
    values: Mapping[str, Any] = given if isinstance(given, dict) else {}
    return {figure.name: _compare_one(figure, values, truth) for figure in figures}


def _compare_one(figure: Figure, values: Mapping[str, Any], truth: Mapping[str, float]) -> dict[str, Json]:
    number = number_field(values, figure.name)
    if isinstance(number, Refusal):
        return {"right": False, "note": number.reason}
    if figure.name not in truth:
        return {"right": False, "given": number, "note": "no valid legs to compute it from"}
    expected = truth[figure.name]
    right = numbers_match(number, expected, relative=figure.tolerance, absolute=figure.floor)
    return {"right": right, "given": number, "expected": expected}
