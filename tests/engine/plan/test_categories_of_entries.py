"""``categories`` of a dataset's entry: only tasks of these are drawn, whatever the dataset."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from engine.config import RunConfig
from engine.errors import ConfigError
from engine.plan import sampling


def drawn(**entry: Any) -> list[Any]:
    config = RunConfig.model_validate({"name": "own", "datasets": [entry]})
    return [case.task for case in sampling.draw(config)]


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        ({"type": "fundamentals", "categories": ["Beat or Miss"], "limit": 5}, {"Beat or Miss": 5}),
        ({"type": "professional", "categories": ["Valuation"], "limit": 3}, {"Valuation": 3}),
        ({"type": "bizfinbench", "categories": ["Quantitative Reasoning"], "limit": 3}, {"Quantitative Reasoning": 3}),
        (
            {"type": "options", "categories": ["Greeks Analysis", "Risk Management"], "limit_per_task": 2},
            {"Greeks Analysis": 2, "Risk Management": 2},
        ),
    ],
)
def test_only_tasks_of_the_categories_are_drawn(entry: dict[str, Any], expected: dict[str, int]) -> None:
    assert Counter(task.category for task in drawn(**entry)) == expected
    assert drawn(**entry) == drawn(**entry)


def test_a_longer_draw_of_a_category_starts_with_a_shorter_one() -> None:
    entry = {"type": "options", "categories": ["Options Pricing"]}
    assert drawn(**entry, limit=6)[:2] == drawn(**entry, limit=2)


@pytest.mark.parametrize(
    ("categories", "told"),
    [
        (["Astrology"], "'Astrology' is not among those of this dataset: Fundamental Analysis"),
        ([], "categories: at least one is needed"),
    ],
)
def test_a_category_that_the_dataset_has_not_is_named(categories: list[str], told: str) -> None:
    with pytest.raises((ConfigError, ValueError), match=told):
        drawn(type="fundamentals", categories=categories)


def test_a_dataset_whose_categories_are_not_known_before_says_which_were_drawn() -> None:
    with pytest.raises(ConfigError, match="no task is of Astrology; the drawn ones are of: Crypto Trading"):
        drawn(type="crypto", categories=["Astrology"], limit=1)
