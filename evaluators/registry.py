"""The datasets by name. One row each; the contract test runs over every row."""

from __future__ import annotations

import importlib
from typing import cast

from evaluators.contract import Dataset

DATASETS: dict[str, str] = {
    "fundamentals": "evaluators.fundamentals:DATASET",
    "bizfinbench": "evaluators.bizfinbench:DATASET",
    "synthetic": "evaluators.synthetic:DATASET",
    "options": "evaluators.options:DATASET",
    "crypto": "evaluators.crypto:DATASET",
    "professional": "evaluators.professional:DATASET",
    "prbench": "evaluators.prbench:DATASET",
    "public_csv": "evaluators.public_csv:DATASET",
    "gdpval": "evaluators.gdpval:DATASET",
}
"""Name in a config -> ``module:attribute``, imported when a run uses it."""


def get(name: str) -> Dataset:
    """Return the dataset called ``name``; an unknown name raises ``ValueError`` that lists what exists."""
    if name not in DATASETS:
        raise ValueError(f"unknown dataset {name!r}; available: {', '.join(sorted(DATASETS))}")
    module, attribute = DATASETS[name].split(":")
    return cast(Dataset, getattr(importlib.import_module(module), attribute))
