"""GDPval tasks, read from the user's own files: four dimensions of 25 points."""

from __future__ import annotations

from evaluators.gdpval.dataset import DATASET

__all__ = ["DATASET"]
