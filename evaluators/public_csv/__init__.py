"""The public questions of the finance-agent benchmark (vals.ai), read from the user's own public.csv."""

from __future__ import annotations

from evaluators.public_csv.dataset import DATASET

__all__ = ["DATASET"]
