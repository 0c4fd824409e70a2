"""Professional work with checkable deliverables: a table and a memo, marked in four dimensions."""

from __future__ import annotations

from evaluators.professional.dataset import DATASET

__all__ = ["DATASET"]
