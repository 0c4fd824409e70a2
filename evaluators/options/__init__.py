"""Options Alpha: option tasks whose truth is computed by the pricing engine."""

from __future__ import annotations

from evaluators.options.dataset import DATASET

__all__ = ["DATASET"]
