"""The eighteen categories of FAB++ (section 4.1), and which families of which dataset are drawn for each."""

from __future__ import annotations

from typing import TypedDict

from evaluators import registry
from evaluators.contract import DIFFICULTIES, Difficulty

TIERS: dict[str, tuple[str, ...]] = {
    "Core Finance": (
        "Beat or Miss",
        "Macro Analysis",
        "Fundamental Analysis",
        "Quantitative Reasoning",
        "SEC Filing Analysis",
        "Trend Analysis",
    ),
    "Options Alpha": (
        "Options Pricing",
        "Greeks Analysis",
        "Strategy Construction",
        "Volatility Trading",
        "P&L Attribution",
        "Risk Management",
    ),
    "Advanced": (
        "Copy Trading",
        "Race to 10M",
        "Strategy Defense",
        "Financial Data Description",
        "Multi-turn Perception",
        "Sentiment Analysis",
    ),
}
CATEGORIES: tuple[str, ...] = tuple(name for tier in TIERS.values() for name in tier)


class Row(TypedDict):
    """What can be drawn for one category.

    Attributes
    ----------
    datasets
        That have it.
    families, wordings
        How many kinds of question there are, and how many texts that put them; those held back are not counted.
    difficulties
        How many of the families are drawn in each.
    """

    datasets: list[str]
    families: int
    wordings: int
    difficulties: dict[Difficulty, int]


def table() -> dict[str, Row]:
    """Return a row for each of the eighteen categories, in the order of the paper."""
    rows: dict[str, Row] = {
        name: {"datasets": [], "families": 0, "wordings": 0, "difficulties": dict.fromkeys(DIFFICULTIES, 0)}
        for name in CATEGORIES
    }
    for dataset in registry.DATASETS:
        for family in registry.get(dataset).families():
            if family.category not in rows:
                continue
            row = rows[family.category]
            if dataset not in row["datasets"]:
                row["datasets"].append(dataset)
            row["families"] += 1
            row["wordings"] += family.wordings
            for difficulty in family.difficulties:
                row["difficulties"][difficulty] += 1
    return rows
