"""Dynamic questions on companies and shares; the facts have to be fetched through the tools."""

from __future__ import annotations

from evaluators.fundamentals.dataset import DATASET

__all__ = ["DATASET"]
