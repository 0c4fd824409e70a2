"""Four dimensions of 25 points, and why three of them hang on the fourth."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple, TypeAlias, get_args

from evaluators.contract import Json, Score

Dimension: TypeAlias = Literal["completion", "accuracy", "format", "professionalism"]
DIMENSIONS: tuple[Dimension, ...] = get_args(Dimension)
POINTS = 25.0
PASS_MARK = 75.0
PASS_ACCURACY = 0.9


class Mark(NamedTuple):
    """One check of one dimension.

    Attributes
    ----------
    fraction
        0 to 1: how far the check is met.
    weight
        Relative to the other checks of the same dimension.
    note
        What the report shows beside it.
    """

    dimension: Dimension
    name: str
    fraction: float
    weight: float = 1.0
    note: str = ""


def gate(accuracy: float) -> float:
    """Return the share of the other dimensions that counts at this accuracy: 0 up to one half, 1 at 1, linear between.

    Without it, a well-formed report full of wrong numbers would be worth 75 points.
    """
    return max(0.0, 2.0 * accuracy - 1.0)


def total(points: Mapping[Dimension, float]) -> float:
    """Return the sum of the four dimensions, each 0 to 25."""
    for dimension in DIMENSIONS:
        if not 0.0 <= points[dimension] <= POINTS:
            raise ValueError(f"{dimension} must lie in [0, {POINTS:g}], got {points[dimension]!r}")
    return sum(points[dimension] for dimension in DIMENSIONS)


def _fraction(marks: Sequence[Mark], dimension: Dimension) -> float:
    mine = [mark for mark in marks if mark.dimension == dimension]
    weight = sum(mark.weight for mark in mine)
    return sum(mark.fraction * mark.weight for mark in mine) / weight if weight else 0.0


def verdict(marks: Sequence[Mark]) -> Score:
    """Return the score of a checked submission."""
    accuracy = _fraction(marks, "accuracy")
    open_share = gate(accuracy)
    points: dict[Dimension, float] = {
        dimension: POINTS * _fraction(marks, dimension) * (1.0 if dimension == "accuracy" else open_share)
        for dimension in DIMENSIONS
    }
    value = total(points)
    missed = [mark for mark in marks if mark.fraction < 1.0]
    details: dict[str, Json] = {
        "points": {dimension: round(points[dimension], 4) for dimension in DIMENSIONS},
        "gate": round(open_share, 4),
        "checks": [mark._asdict() for mark in marks],
    }
    reason = "; ".join(f"{mark.name}: {mark.note or f'{mark.fraction:.0%}'}" for mark in missed[:4])
    return Score(
        value=value,
        passed=value >= PASS_MARK and accuracy >= PASS_ACCURACY,
        parts={dimension: 100.0 * points[dimension] / POINTS for dimension in DIMENSIONS},
        details=details,
        reason=reason or "every check is met",
    )


def nothing(reason: str) -> Score:
    """Return the score of a reply without readable deliverables."""
    return Score(0.0, False, dict.fromkeys(DIMENSIONS, 0.0), {"points": dict.fromkeys(DIMENSIONS, 0.0)}, reason)
