"""The datasets by name. One row each; the contract test runs over every row."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, cast

from evaluators.contract import Dataset
from lake.vocabulary import did_you_mean

if TYPE_CHECKING:
    from evaluators.entry import Entry

DATASETS: dict[str, str] = {
    "fundamentals": "evaluators.fundamentals",
    "bizfinbench": "evaluators.bizfinbench",
    "synthetic": "evaluators.synthetic",
    "casebook": "evaluators.casebook",
    "options": "evaluators.options",
    "crypto": "evaluators.crypto",
    "professional": "evaluators.professional",
    "prbench": "evaluators.prbench",
    "public_csv": "evaluators.public_csv",
    "gdpval": "evaluators.gdpval",
}
"""Name in a config -> package with the modules ``dataset`` and ``options``, imported when a run uses them."""


def get(name: str) -> Dataset:
    """Return the dataset called ``name``; an unknown name raises ``ValueError`` that lists what exists."""
    return cast(Dataset, importlib.import_module(f"{_package(name)}.dataset").DATASET)


def options(name: str) -> type[Entry]:
    """Return what a config entry of the dataset called ``name`` may say; this imports no part of the dataset itself."""
    return cast("type[Entry]", importlib.import_module(f"{_package(name)}.options").Options)


def _package(name: str) -> str:
    if name not in DATASETS:
        there = ", ".join(sorted(DATASETS))
        raise ValueError(f"unknown dataset {name!r}{did_you_mean(name, DATASETS)}; available: {there}")
    return DATASETS[name]
