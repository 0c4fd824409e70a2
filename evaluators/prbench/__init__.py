"""PRBench finance tasks with signed expert rubrics, read from the user's own files."""

from __future__ import annotations

from evaluators.prbench.dataset import DATASET

__all__ = ["DATASET"]
