"""Event ordering and table computations in BizFinBench's formats; own items, or the public files."""

from __future__ import annotations

from evaluators.bizfinbench.dataset import DATASET

__all__ = ["DATASET"]
