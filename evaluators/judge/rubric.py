"""Signed criteria and the one formula that turns verdicts into a share of the points."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

FigureRule: TypeAlias = Literal["none", "required", "decisive"]


@dataclass(frozen=True)
class Criterion:
    """One statement about a reply that is true or false.

    Attributes
    ----------
    name
        Unique in its rubric.
    text
        What is judged; the judge sees nothing else of the criterion.
    weight
        Points when it is met; negative for a fault. Not 0. Never shown to the judge.
    dimension
        The part of the score it belongs to.
    figures
        What code does with the figures of ``text``. ``required``: without them in the reply the criterion is not met
        and nobody is asked. ``decisive``: code also says when it is met. ``none``: they are left to the judge.
    """

    name: str
    text: str
    weight: float
    dimension: str = "rubric"
    figures: FigureRule = "none"

    def __post_init__(self) -> None:
        if not math.isfinite(self.weight) or self.weight == 0.0:
            raise ValueError(f"criterion {self.name}: the weight must be finite and not 0, got {self.weight!r}")
        if not self.text.strip():
            raise ValueError(f"criterion {self.name}: the text is empty")


def positive_weight(criteria: Sequence[Criterion]) -> float:
    """Return the sum of the positive weights; raise ``ValueError`` when there is none."""
    total = math.fsum(max(0.0, criterion.weight) for criterion in criteria)
    if not total > 0:
        raise ValueError("a rubric needs at least one criterion with a positive weight")
    return total


def signed_share(criteria: Sequence[Criterion], met: Mapping[str, bool]) -> float:
    """Return ``clip(sum of met weights / sum of positive weights, 0, 1)``; ``met`` has every criterion's name."""
    earned = math.fsum(criterion.weight for criterion in criteria if met[criterion.name])
    return max(0.0, earned / positive_weight(criteria))
