"""Rubrics judged by a model, one criterion a call, behind rules of code. Not a dataset itself."""

from __future__ import annotations

from evaluators.judge.dataset import Points, RubricDataset, RubricItem, RubricSession
from evaluators.judge.rubric import Criterion, positive_weight, signed_share

__all__ = [
    "Criterion",
    "Points",
    "RubricDataset",
    "RubricItem",
    "RubricSession",
    "positive_weight",
    "signed_share",
]
